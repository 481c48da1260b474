/** Viewer of files: structures, molecules, alignments and predicted aligned errors, displayed as in results. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { useEffect, useState, type ReactElement } from 'react';

import type { LabApi } from '../api/lab';
import { HtmlPane } from '../components/results/HtmlPane';
import { Notice } from '../components/controls/Notice';
import { TranslationContext } from '../components/translation';
import { messageOf } from '../models/formatting/text';
import type { Trans } from '../models/translation';

/** Options of the widget. */
export interface StructureOptions {
  /** Path in the file browser. */
  readonly path: string;
  readonly api: LabApi;
  readonly trans: Trans;
  /** Opens the file as text. */
  readonly onEdit: () => void;
}

/** The viewer of a file. */
export class StructurePanel extends ReactWidget {
  constructor(options: StructureOptions) {
    super();
    this.options = options;
    this.addClass('fn-ResultPanel');
    this.addClass('fn-mod-file');
  }

  /** Reloads the file from disk. */
  reload(): void {
    this.version += 1;
    this.update();
  }

  protected override render(): ReactElement {
    return (
      <TranslationContext.Provider value={this.options.trans}>
        <FileContent {...this.options} version={this.version} />
      </TranslationContext.Provider>
    );
  }

  private readonly options: StructureOptions;
  private version = 0;
}

function FileContent(props: StructureOptions & { readonly version: number }): ReactElement {
  const { path, api, trans, version, onEdit } = props;
  const [html, setHtml] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isCancelled = false;
    setFault(null);
    api.renderFile(path).then(
      response => !isCancelled && setHtml(response.html),
      (error: unknown) => !isCancelled && setFault(messageOf(error))
    );
    return () => {
      isCancelled = true;
    };
  }, [api, path, version]);
  if (fault !== null) {
    const isBinary = /\.(gz|bcif|zip)$/i.test(path);
    return (
      <Notice
        tone="error"
        title={trans.__('The file cannot be displayed')}
        action={isBinary ? undefined : { label: trans.__('Open in the editor'), onClick: onEdit }}
      >
        {fault}
      </Notice>
    );
  }
  return html === null ? (
    <Notice tone="busy" title={trans.__('Loading the file')} fillsView />
  ) : (
    <div className="fn-Result-body">
      <HtmlPane html={html} />
    </div>
  );
}
