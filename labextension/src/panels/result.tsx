/** The main-area widget of a job's result. It needs no kernel. */
import { useMemo, type ReactElement } from 'react';

import type { JobPlace } from '../api/responses';
import { lazyComponent } from '../components/later';
import type { ResultViewProps } from '../components/ResultView';
import { useStore } from '../components/store';
import { Words } from '../components/words';
import { dragFrom, type Dragged } from '../dragging';
import { toolType } from '../models/batch';
import { jobFileCode } from '../models/code';
import { shownName } from '../models/label';
import { EMBEDDED, servicePlace } from '../models/profiles';
import { isPassing, ResultModel, type Listed, type ResultSource, type ResultState } from '../models/result';
import { isLive } from '../models/status';
import { sentenceOf, visibleText } from '../models/text';
import { answerRow, OPEN_JOB } from '../rowresults';
import type { IFoldnote } from '../tokens';
import { SeenWidget } from './seen';

/** Options of the widget. */
export interface ResultOptions {
  readonly place: JobPlace;
  readonly foldnote: IFoldnote;
  readonly onInsert: () => void;
  readonly onAgain: () => void;
  /** Opens the dialog for links; null if the service makes none. */
  readonly onShare: (() => void) | null;
  readonly onDownload: (file: string | null) => void;
  readonly onInsertFile: (path: string) => void;
  /** Looks for the job at the service of another profile, replacing this widget. */
  readonly onElsewhere: (profile: string) => void;
  readonly onClose: () => void;
}

const ResultView = lazyComponent(async () => (await import('../components/ResultView')).ResultView);

let lastId = 0;

/** A job and its result. Missing data is requested while the widget is visible. */
export class ResultPanel extends SeenWidget {
  constructor(options: ResultOptions) {
    super();
    this.options = options;
    const { foldnote, place } = options;
    this.model = new ResultModel(place, sourceOf(foldnote), () => listed(foldnote, place));
    this.addClass('fn-ResultPanel');
    this.title.label = visibleText(place.job);
    this.model.changed.connect(() => {
      const { job } = this.model.state();
      this.title.label = job ? shownName(job) : visibleText(place.job);
    });
    this.node.addEventListener(OPEN_JOB, event => {
      answerRow(event, foldnote.api, foldnote.trans, job => ({ ...place, job }));
    });
  }

  /** The job. */
  get place(): JobPlace {
    return this.options.place;
  }

  protected override render(): ReactElement {
    return (
      <Words.Provider value={this.options.foldnote.trans}>
        <Content {...this.options} model={this.model} id={this.own} />
      </Words.Provider>
    );
  }

  protected override watch(): void {
    const { jobs, profiles } = this.options.foldnote;
    if (this.ends.length === 0) {
      const { look } = this.model;
      jobs.changed.connect(look);
      profiles.changed.connect(look);
      this.ends = [
        jobs.watch(),
        () => jobs.changed.disconnect(look),
        () => profiles.changed.disconnect(look),
        this.model.watch()
      ];
    }
  }

  protected override unwatch(): void {
    for (const end of this.ends.splice(0)) {
      end();
    }
  }

  private readonly options: ResultOptions;
  private readonly model: ResultModel;
  private readonly own = `result${(lastId += 1)}`;
  private ends: (() => unknown)[] = [];
}

/** A source that also records a service's refusal in the member's row. */
function sourceOf({ api, members }: IFoldnote): ResultSource {
  return {
    record: place => api.record(place),
    readResult: async place => {
      try {
        return await api.readResult(place);
      } catch (error) {
        if (place.member !== null && !isPassing(error)) {
          members.noteRefusal({ jobName: place.job, email: place.member }, sentenceOf(error));
        }
        throw error;
      }
    }
  };
}

/** The job in the sidebar's lists; nothing if they show another service. */
function listed({ jobs, members, profiles }: IFoldnote, { job, member, profile }: JobPlace): Listed {
  if (!profiles.isMeant(profile)) {
    return { isReady: true, isFollowed: false, job: undefined };
  }
  if (member !== null) {
    return { isReady: true, isFollowed: false, job: members.find(job, member) };
  }
  const { lost, service } = jobs.state();
  const isReady = lost !== null || (service !== null && service.state !== 'starting');
  return { isReady, isFollowed: true, job: jobs.find(job) };
}

function Content(props: ResultOptions & { readonly model: ResultModel; readonly id: string }): ReactElement {
  const { foldnote, model, place } = props;
  const { api, jobs, profiles, tools, trans } = foldnote;
  const state = useStore(model);
  const own = useStore(jobs);
  const known = useStore(profiles);
  useStore(tools);
  const reads = useMemo(
    (): Pick<ResultViewProps, 'readLog' | 'readSettings'> => ({
      readLog: () =>
        place.member === null
          ? api.readLog(place)
          : Promise.reject(new Error(trans.__('Only the owner of a job can read its log.'))),
      readSettings: () => api.readSettings(place)
    }),
    [api, place, trans]
  );
  const service = place.profile ?? profiles.meant();
  const elsewhere = known.profiles
    .filter(({ name }) => name !== service)
    .map(({ name }) => ({ place: servicePlace(name, trans), onLook: () => props.onElsewhere(name) }));
  return (
    <ResultView
      {...props}
      {...reads}
      state={withService(state, foldnote, place)}
      name={place.job}
      owner={place.member}
      service={service === EMBEDDED ? null : service}
      isElsewhere={!profiles.isMeant(place.profile)}
      elsewhere={elsewhere}
      toolName={state.job ? tools.displayName(toolType(state.job)) : ''}
      now={Math.max(own.receivedAt, state.seenAt)}
      onRetry={() => {
        void jobs.refresh();
        model.hurry();
      }}
      onPressFile={(event, path) => dragFrom(event, () => draggedFile(props, path))}
    />
  );
}

/** Adds the list's fault to the state if the service does not respond and the job is unfinished. */
function withService(state: ResultState, { jobs, profiles }: IFoldnote, place: JobPlace): ResultState {
  const { service, lost } = jobs.state();
  const sentence = lost ?? (service?.state === 'ok' ? null : (service?.error ?? null));
  const isOld = profiles.isMeant(place.profile) && state.job !== undefined && isLive(state.job);
  return isOld && sentence !== null && state.fault === null
    ? { ...state, fault: { sentence, isPassing: service?.state !== 'unauthorized' || lost !== null } }
    : state;
}

/** A file of a result as a dragged item; without a value for file fields if it is of another member's job. */
function draggedFile({ place, foldnote }: ResultOptions, path: string): Dragged {
  const { job, member, profile } = place;
  const code = jobFileCode(job, path, foldnote.profiles.forCode(profile), member);
  const value = member === null ? ({ kind: 'jobFile', job, path } as const) : undefined;
  return { label: visibleText(path), code, cell: `import foldnote as fn\n\n${code}`, value };
}
