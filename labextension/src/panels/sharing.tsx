/** Links for colleagues: the dialog that makes them, and the tab of a link that was opened. Loaded on first use. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import {
  Clipboard,
  Dialog,
  InputDialog,
  MainAreaWidget,
  Notification,
  showDialog,
  showErrorMessage
} from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ReactElement } from 'react';

import type { JobRef, SharedResponse } from '../api/responses';
import { fetchLinked, listShares, makeShare, openLink, openLinkedRow, openMarked, revokeShare } from '../api/sharing';
import { CommandIDs } from '../commands';
import { ResultView } from '../components/results/ResultView';
import { ShareBox } from '../components/results/ShareBox';
import { TranslationContext } from '../components/translation';
import { dragFrom } from '../dragging';
import { toolType } from '../models/jobs/batch';
import { sharedCode, sharedFileCode } from '../models/service/code';
import { shownName } from '../models/jobs/label';
import { messageOf, visibleText } from '../models/formatting/text';
import { runInCell } from '../notebooks';
import { handleRowRequest, OPEN_JOB } from '../rowresults';
import { addTab, type ResultTracker } from '../tabs';
import type { IFoldnote } from '../tokens';

/** Shows the links to a job, and makes new ones. */
export async function shareJob({ api, trans }: IFoldnote, jobRef: JobRef): Promise<void> {
  const body = ReactWidget.create(
    <TranslationContext.Provider value={trans}>
      <ShareBox
        list={() => listShares(api, jobRef)}
        make={days => makeShare(api, jobRef, days)}
        revoke={name => revokeShare(api, jobRef, name)}
        copy={text => Clipboard.copyToSystem(text)}
      />
    </TranslationContext.Provider>
  );
  body.addClass('fn-ShareDialog');
  await showDialog({
    title: trans.__('Share %1', visibleText(jobRef.job)),
    body,
    buttons: [Dialog.cancelButton({ label: trans.__('Close') })],
    focusNodeSelector: 'select'
  });
}

/** Asks for a colleague's link, and opens it in a tab. */
export async function openShared(app: JupyterFrontEnd, foldnote: IFoldnote, tracker: ResultTracker): Promise<void> {
  const { api, trans } = foldnote;
  const { button, value } = await InputDialog.getText({
    title: trans.__('Open a shared link'),
    label: trans.__('The link that a colleague sent you, including everything after the #'),
    placeholder: 'https://lab.example.org/shared#…',
    okLabel: trans.__('Open')
  });
  const url = value?.trim() ?? '';
  if (!button.accept || url === '') {
    return;
  }
  const pending = Notification.info(trans.__('Opening the shared link …'), { autoClose: false });
  try {
    const shared = await openLink(api, url).finally(() => Notification.dismiss(pending));
    openTab(app, foldnote, tracker, shared.mark, shared.job.jobName, shared);
  } catch (error) {
    // in a dialog, since JupyterLab truncates the text of a notification
    await showErrorMessage(trans.__('The shared link cannot be opened'), messageOf(error));
  }
}

/** Opens the tab of a shared job again after the page is reloaded; if that fails, the tab says why. */
export function restoreShared(
  app: JupyterFrontEnd,
  foldnote: IFoldnote,
  tracker: ResultTracker,
  { job, share = '' }: JobRef
): void {
  openTab(app, foldnote, tracker, share, job, null);
}

type Tab = Parameters<ResultTracker['add']>[0];

function openTab(
  app: JupyterFrontEnd,
  foldnote: IFoldnote,
  tracker: ResultTracker,
  shareMark: string,
  name: string,
  shared: SharedResponse | null
): void {
  const jobRef = { job: name, member: null, profile: null, share: shareMark };
  const isReplaced = ({ content }: Tab): boolean =>
    content.jobRef.share === shareMark ||
    (content instanceof SharedPanel && content.hasFailedToOpen && content.jobRef.job === name);
  tracker.filter(isReplaced).forEach(tab => tab.dispose());
  const content = new SharedPanel(app, foldnote, jobRef, shared, () => widget.close());
  const widget = new MainAreaWidget({ content });
  widget.title.caption = foldnote.trans.__('Shared with you, read-only');
  addTab(app, widget);
  void tracker.add(widget);
  app.shell.activateById(widget.id);
}

let lastId = 0;

/** A colleague's job as received when the link was opened; it is not polled. */
class SharedPanel extends ReactWidget {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly foldnote: IFoldnote,
    readonly jobRef: JobRef & { readonly share: string },
    private shared: SharedResponse | null,
    private readonly onClose: () => void
  ) {
    super();
    this.addClass('fn-ResultPanel');
    this.node.dataset.fnShared = ''; // see table_rows.js
    this.setLabel();
    const { api, trans } = foldnote;
    this.node.addEventListener(OPEN_JOB, event => {
      const { url = '' } = this.shared ?? {};
      const rows = { readResult: ({ job }: JobRef) => openLinkedRow(api, url, job) };
      handleRowRequest(event, rows, trans, job => ({ job, member: null, profile: null }));
    });
  }

  /** Whether it is a restored tab whose link could not be opened again. */
  get hasFailedToOpen(): boolean {
    return this.shared === null && this.errorMessage !== null;
  }

  protected override render(): ReactElement {
    const { tools, trans } = this.foldnote;
    const { job, result, url = '' } = this.shared ?? {};
    const insert = (code: string): void => {
      runInCell(this.app, code, '').catch((error: unknown) => Notification.error(messageOf(error)));
    };
    const fileCode = (file: string): string => sharedFileCode(url, file);
    const fault = this.errorMessage === null ? null : { message: this.errorMessage, isTemporary: false };
    const state = {
      job,
      result: result ?? null,
      seenAt: Date.now(),
      goneAt: null,
      fault,
      resultFault: null
    };
    return (
      <TranslationContext.Provider value={trans}>
        <ResultView
          id={this.viewId}
          name={this.jobRef.job}
          owner={null}
          service={null}
          isElsewhere={false}
          isShared
          otherProfiles={[]}
          toolName={job ? tools.displayName(toolType(job)) : ''}
          now={Date.now()}
          state={state}
          readLog={null}
          readSettings={this.readSettings}
          onInsert={() => insert(sharedCode(url))}
          onRerun={null}
          onShare={null}
          onDownload={file => void this.save(file)}
          onInsertFile={file => insert(fileCode(file))}
          onPressFile={(event, file) =>
            dragFrom(event, () => ({ label: visibleText(file), code: fileCode(file), cell: fileCode(file) }))
          }
          onRetry={() => void this.load()}
          onOpenLink={() => void this.app.commands.execute(CommandIDs.openShared)}
          onClose={this.onClose}
        />
      </TranslationContext.Provider>
    );
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this.load();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this.load();
  }

  /** Opens the link of a restored tab again; the server finds it by its mark. */
  private async load(): Promise<void> {
    if (this.isLoading || this.shared !== null) {
      return;
    }
    this.isLoading = true;
    this.errorMessage = null;
    this.update();
    try {
      this.shared = await openMarked(this.foldnote.api, this.jobRef.share);
      this.setLabel();
    } catch (error) {
      this.errorMessage = messageOf(error);
    } finally {
      this.isLoading = false;
      this.update();
    }
  }

  private setLabel(): void {
    this.title.label = this.shared === null ? visibleText(this.jobRef.job) : shownName(this.shared.job);
  }

  /** Lets the browser save the archive, or one file of it. */
  private async save(file: string | null): Promise<void> {
    const { api } = this.foldnote;
    try {
      const address = URL.createObjectURL(await fetchLinked(api, this.shared?.url ?? '', file));
      const name = file === null ? `${this.jobRef.job}.zip` : file.replace(/^.*\//, '');
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may still read it
    } catch (error) {
      Notification.error(messageOf(error), { autoClose: 8000 });
    }
  }

  private readonly readSettings = (): Promise<string> => Promise.resolve(this.shared?.settings ?? '');
  private readonly viewId = `shared${(lastId += 1)}`;
  private errorMessage: string | null = null;
  private isLoading = false;
}
