/** The main-area widget of a job's result. It needs no kernel. */
import { useMemo, type ReactElement } from 'react';

import type { JobRef } from '../api/responses';
import { lazyComponent } from '../components/controls/lazyComponent';
import type { ResultViewProps } from '../components/results/ResultView';
import { useStore } from '../components/store';
import { TranslationContext } from '../components/translation';
import { dragFrom, type DragItem } from '../dragging';
import { toolType } from '../models/jobs/batch';
import { jobFileCode } from '../models/service/code';
import { shownName } from '../models/jobs/label';
import { EMBEDDED, serviceLocation } from '../models/service/profiles';
import {
  isTemporary,
  ResultModel,
  type ListedJob,
  type ResultSource,
  type ResultState
} from '../models/results/result';
import { isLive } from '../models/jobs/status';
import { messageOf, visibleText } from '../models/formatting/text';
import { handleRowRequest, OPEN_JOB } from '../rowresults';
import type { IFoldnote } from '../tokens';
import { VisibilityWidget } from './visibility';

/** Options of the widget. */
export interface ResultOptions {
  readonly jobRef: JobRef;
  readonly foldnote: IFoldnote;
  readonly onInsert: () => void;
  readonly onRerun: () => void;
  /** Opens the dialog for links; null if the service makes none. */
  readonly onShare: (() => void) | null;
  readonly onDownload: (file: string | null) => void;
  readonly onInsertFile: (path: string) => void;
  /** Looks for the job at the service of another profile, replacing this widget. */
  readonly onSwitchProfile: (profile: string) => void;
  readonly onClose: () => void;
}

const ResultView = lazyComponent(async () => (await import('../components/results/ResultView')).ResultView);

let lastId = 0;

/** A job and its result. Missing data is requested while the widget is visible. */
export class ResultPanel extends VisibilityWidget {
  constructor(options: ResultOptions) {
    super();
    this.options = options;
    const { foldnote, jobRef } = options;
    this.model = new ResultModel(jobRef, createSource(foldnote), () => findListed(foldnote, jobRef));
    this.addClass('fn-ResultPanel');
    this.title.label = visibleText(jobRef.job);
    this.model.changed.connect(() => {
      const { job } = this.model.state();
      this.title.label = job ? shownName(job) : visibleText(jobRef.job);
    });
    this.node.addEventListener(OPEN_JOB, event => {
      handleRowRequest(event, foldnote.api, foldnote.trans, job => ({ ...jobRef, job }));
    });
  }

  /** The job. */
  get jobRef(): JobRef {
    return this.options.jobRef;
  }

  protected override render(): ReactElement {
    return (
      <TranslationContext.Provider value={this.options.foldnote.trans}>
        <Content {...this.options} model={this.model} id={this.viewId} />
      </TranslationContext.Provider>
    );
  }

  protected override watch(): void {
    const { jobs, profiles } = this.options.foldnote;
    if (this.cleanups.length === 0) {
      const { updateFromLists } = this.model;
      jobs.changed.connect(updateFromLists);
      profiles.changed.connect(updateFromLists);
      this.cleanups = [
        jobs.watch(),
        () => jobs.changed.disconnect(updateFromLists),
        () => profiles.changed.disconnect(updateFromLists),
        this.model.watch()
      ];
    }
  }

  protected override unwatch(): void {
    for (const end of this.cleanups.splice(0)) {
      end();
    }
  }

  private readonly options: ResultOptions;
  private readonly model: ResultModel;
  private readonly viewId = `result${(lastId += 1)}`;
  private cleanups: (() => unknown)[] = [];
}

/** A source that also records a service's refusal in the member's row. */
function createSource({ api, members }: IFoldnote): ResultSource {
  return {
    record: jobRef => api.record(jobRef),
    readResult: async jobRef => {
      try {
        return await api.readResult(jobRef);
      } catch (error) {
        if (jobRef.member !== null && !isTemporary(error)) {
          members.noteRefusal({ jobName: jobRef.job, email: jobRef.member }, messageOf(error));
        }
        throw error;
      }
    }
  };
}

/** The job in the sidebar's lists; nothing if they show another service. */
function findListed({ jobs, members, profiles }: IFoldnote, { job, member, profile }: JobRef): ListedJob {
  if (!profiles.isSelected(profile)) {
    return { isReady: true, isPolled: false, job: undefined };
  }
  if (member !== null) {
    return { isReady: true, isPolled: false, job: members.find(job, member) };
  }
  const { connectionError, service } = jobs.state();
  const isReady = connectionError !== null || (service !== null && service.state !== 'starting');
  return { isReady, isPolled: true, job: jobs.find(job) };
}

function Content(props: ResultOptions & { readonly model: ResultModel; readonly id: string }): ReactElement {
  const { foldnote, model, jobRef } = props;
  const { api, jobs, profiles, tools, trans } = foldnote;
  const state = useStore(model);
  const jobsState = useStore(jobs);
  const profilesState = useStore(profiles);
  useStore(tools);
  const readers = useMemo(
    (): Pick<ResultViewProps, 'readLog' | 'readSettings'> => ({
      readLog: () =>
        jobRef.member === null
          ? api.readLog(jobRef)
          : Promise.reject(new Error(trans.__('Only the owner of a job can read its log.'))),
      readSettings: () => api.readSettings(jobRef)
    }),
    [api, jobRef, trans]
  );
  const service = jobRef.profile ?? profiles.selected();
  const otherProfiles = profilesState.profiles
    .filter(({ name }) => name !== service)
    .map(({ name }) => ({ location: serviceLocation(name, trans), onSelect: () => props.onSwitchProfile(name) }));
  return (
    <ResultView
      {...props}
      {...readers}
      state={withServiceFault(state, foldnote, jobRef)}
      name={jobRef.job}
      owner={jobRef.member}
      service={service === EMBEDDED ? null : service}
      isElsewhere={!profiles.isSelected(jobRef.profile)}
      otherProfiles={otherProfiles}
      toolName={state.job ? tools.displayName(toolType(state.job)) : ''}
      now={Math.max(jobsState.receivedAt, state.seenAt)}
      onRetry={() => {
        void jobs.refresh();
        model.retryNow();
      }}
      onPressFile={(event, path) => dragFrom(event, () => draggedFile(props, path))}
    />
  );
}

/** Adds the list's fault to the state if the service does not respond and the job is unfinished. */
function withServiceFault(state: ResultState, { jobs, profiles }: IFoldnote, jobRef: JobRef): ResultState {
  const { service, connectionError } = jobs.state();
  const message = connectionError ?? (service?.state === 'ok' ? null : (service?.error ?? null));
  const mayBeStale = profiles.isSelected(jobRef.profile) && state.job !== undefined && isLive(state.job);
  return mayBeStale && message !== null && state.fault === null
    ? { ...state, fault: { message, isTemporary: service?.state !== 'unauthorized' || connectionError !== null } }
    : state;
}

/** A file of a result as a dragged item; without a value for file fields if it is of another member's job. */
function draggedFile({ jobRef, foldnote }: ResultOptions, path: string): DragItem {
  const { job, member, profile } = jobRef;
  const code = jobFileCode(job, path, foldnote.profiles.forCode(profile), member);
  const value = member === null ? ({ kind: 'jobFile', job, path } as const) : undefined;
  return { label: visibleText(path), code, cell: `import foldnote as fn\n\n${code}`, value };
}
