/** Links for colleagues: the dialog that makes them, and the tab of one that was opened. Loaded when first used. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Clipboard, Dialog, InputDialog, MainAreaWidget, Notification, showDialog } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { JobPlace, SharedAnswer } from '../api/answers';
import { fetchLinked, listShares, makeShare, openLink, revokeShare } from '../api/sharing';
import { ResultView } from '../components/ResultView';
import { ShareBox } from '../components/ShareBox';
import { Words } from '../components/words';
import { dragFrom } from '../dragging';
import { toolType } from '../models/batch';
import { sharedCode, sharedFileCode } from '../models/code';
import { shownName } from '../models/label';
import { sentenceOf, visibleText } from '../models/text';
import { runInCell } from '../notebooks';
import { addTab } from '../tabs';
import type { IFoldnote } from '../tokens';

/** Shows the links to a job, and makes new ones. */
export async function shareJob({ api, trans }: IFoldnote, place: JobPlace): Promise<void> {
  const body = ReactWidget.create(
    <Words.Provider value={trans}>
      <ShareBox
        list={() => listShares(api, place)}
        make={days => makeShare(api, place, days)}
        revoke={name => revokeShare(api, place, name)}
        copy={text => Clipboard.copyToSystem(text)}
      />
    </Words.Provider>
  );
  body.addClass('fn-ShareDialog');
  await showDialog({
    title: trans.__('Share %1', visibleText(place.job)),
    body,
    buttons: [Dialog.cancelButton({ label: trans.__('Close') })],
    focusNodeSelector: 'select'
  });
}

/** Asks for a colleague's link, and opens it in a tab. */
export async function openShared(app: JupyterFrontEnd, foldnote: IFoldnote): Promise<void> {
  const { api, trans } = foldnote;
  const { button, value } = await InputDialog.getText({
    title: trans.__('Open a shared link'),
    label: trans.__('The link that a colleague has sent you, with all that is after the #'),
    placeholder: 'https://lab.example.org/shared#…',
    okLabel: trans.__('Open')
  });
  const url = value?.trim() ?? '';
  if (!button.accept || url === '') {
    return;
  }
  const pending = Notification.info(trans.__('Opening the shared link …'), { autoClose: false });
  try {
    show(app, foldnote, url, await openLink(api, url));
  } catch (error) {
    Notification.error(sentenceOf(error), { autoClose: 8000 });
  } finally {
    Notification.dismiss(pending);
  }
}

function show(app: JupyterFrontEnd, foldnote: IFoldnote, url: string, shared: SharedAnswer): void {
  const content = new SharedPanel(app, foldnote, url, shared, () => widget.close());
  const widget = new MainAreaWidget({ content });
  widget.title.label = shownName(shared.job);
  widget.title.caption = foldnote.trans.__('Shared with you, read-only');
  addTab(app, widget);
  app.shell.activateById(widget.id);
}

let lastId = 0;

/** A colleague's job: what the link gave when it was opened, since it is not followed. */
class SharedPanel extends ReactWidget {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly foldnote: IFoldnote,
    private readonly url: string,
    private readonly shared: SharedAnswer,
    private readonly onClose: () => void
  ) {
    super();
    this.addClass('fn-ResultPanel');
  }

  protected override render(): ReactElement {
    const { tools, trans } = this.foldnote;
    const { job, result } = this.shared;
    const insert = (code: string): void => {
      runInCell(this.app, code, '').catch((error: unknown) => Notification.error(sentenceOf(error)));
    };
    const code = sharedCode(this.url);
    const fileCode = (file: string): string => sharedFileCode(this.url, file);
    return (
      <Words.Provider value={trans}>
        <ResultView
          id={this.own}
          name={job.jobName}
          owner={null}
          service={null}
          isElsewhere={false}
          isShared
          elsewhere={[]}
          toolName={tools.displayName(toolType(job))}
          now={Date.now()}
          state={{ job, result, seenAt: Date.now(), goneAt: null, fault: null, resultFault: null }}
          readLog={null}
          readSettings={this.readSettings}
          onInsert={() => insert(code)}
          onAgain={null}
          onShare={null}
          onDownload={file => void this.save(file)}
          onInsertFile={file => insert(fileCode(file))}
          onPressFile={(event, file) =>
            dragFrom(event, () => ({ label: visibleText(file), code: fileCode(file), cell: fileCode(file) }))
          }
          onRetry={() => undefined}
          onClose={this.onClose}
        />
      </Words.Provider>
    );
  }

  /** Lets the browser save the archive, or one file of it. */
  private async save(file: string | null): Promise<void> {
    const { api } = this.foldnote;
    try {
      const address = URL.createObjectURL(await fetchLinked(api, this.url, file));
      const name = file === null ? `${this.shared.job.jobName}.zip` : file.replace(/^.*\//, '');
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may still read it
    } catch (error) {
      Notification.error(sentenceOf(error), { autoClose: 8000 });
    }
  }

  private readonly readSettings = (): Promise<string> => Promise.resolve(this.shared.settings);
  private readonly own = `shared${(lastId += 1)}`;
}
