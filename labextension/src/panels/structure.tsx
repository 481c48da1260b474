/** A structure file of JupyterLab's file browser, drawn as results are. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { useEffect, useState, type ReactElement } from 'react';

import type { LabApi } from '../api/lab';
import { HtmlPane } from '../components/HtmlPane';
import { Notice } from '../components/Notice';
import { Words } from '../components/words';
import type { Trans } from '../models/words';

/** What the widget needs. */
export interface StructureOptions {
  /** Path in the file browser. */
  readonly path: string;
  readonly api: LabApi;
  readonly trans: Trans;
}

/** The picture of a structure file. */
export class StructurePanel extends ReactWidget {
  constructor(options: StructureOptions) {
    super();
    this.options = options;
    this.addClass('fn-ResultPanel');
  }

  /** Draws the file anew, as it is now on disk. */
  reload(): void {
    this.version += 1;
    this.update();
  }

  protected override render(): ReactElement {
    return (
      <Words.Provider value={this.options.trans}>
        <Picture {...this.options} version={this.version} />
      </Words.Provider>
    );
  }

  private readonly options: StructureOptions;
  private version = 0;
}

function Picture(props: StructureOptions & { readonly version: number }): ReactElement {
  const { path, api, trans, version } = props;
  const [html, setHtml] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    setFault(null);
    api.structure(path).then(
      answer => !isOver && setHtml(answer.html),
      (error: unknown) => !isOver && setFault(error instanceof Error ? error.message : String(error))
    );
    return () => {
      isOver = true;
    };
  }, [api, path, version]);
  if (fault !== null) {
    return (
      <Notice tone="error" title={trans.__('The structure cannot be shown')}>
        {fault}
      </Notice>
    );
  }
  return html === null ? (
    <Notice tone="busy" title={trans.__('Reading the structure')} isWhole />
  ) : (
    <div className="fn-Result-body">
      <HtmlPane html={html} />
    </div>
  );
}
