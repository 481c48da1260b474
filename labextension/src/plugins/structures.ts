/**
 * Opens structures, molecules, alignments, predicted aligned errors and archives of results in JupyterLab's file browser. The text
 * editor remains available, and remains the default for other JSON files.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { fileIcon, type LabIcon } from '@jupyterlab/ui-components';
import { ABCWidgetFactory, DocumentWidget, type DocumentRegistry, type IDocumentWidget } from '@jupyterlab/docregistry';

import { alignmentIcon, matrixIcon, moleculeIcon, sequencesIcon, structureIcon } from '../kindIcons';
import { FILE_KINDS, type Picture } from '../models/files/filetypes';
import { StructurePanel } from '../panels/structure';
import { IFoldnote } from '../tokens';

const ICONS: Readonly<Record<Picture, LabIcon>> = {
  structure: structureIcon,
  molecule: moleculeIcon,
  alignment: alignmentIcon,
  sequences: sequencesIcon,
  matrix: matrixIcon,
  archive: fileIcon
};

/** JupyterLab's file type for JSON. */
const JSON_KIND = 'json';

/** The viewer of files. */
export const structuresPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:structures',
  description: 'Displays structures, molecules, alignments and predicted aligned errors from the file browser.',
  autoStart: true,
  requires: [IFoldnote],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote) => {
    const { trans } = foldnote;
    for (const { name, label, extensions, pattern, picture } of FILE_KINDS) {
      app.docRegistry.addFileType({
        name,
        displayName: trans.__(label),
        extensions: [...extensions],
        ...(pattern === undefined ? {} : { pattern }),
        mimeTypes: ['application/octet-stream'],
        fileFormat: 'base64',
        contentType: 'file',
        icon: ICONS[picture]
      });
    }
    const factory = new StructureFactory(app, foldnote, {
      name: 'foldnote structure',
      label: trans.__('Protein Viewer'),
      modelName: 'base64',
      readOnly: true,
      fileTypes: [...FILE_KINDS.map(kind => kind.name), JSON_KIND],
      defaultFor: FILE_KINDS.filter(kind => kind.isDefault).map(kind => kind.name)
    });
    app.docRegistry.addWidgetFactory(factory as unknown as DocumentRegistry.WidgetFactory); // declared for an older version
  }
};

class StructureFactory extends ABCWidgetFactory<IDocumentWidget<StructurePanel>> {
  constructor(app: JupyterFrontEnd, foldnote: IFoldnote, options: DocumentRegistry.IWidgetFactoryOptions) {
    super(options);
    this.app = app;
    this.foldnote = foldnote;
  }

  protected createNewWidget(context: DocumentRegistry.Context): IDocumentWidget<StructurePanel> {
    const { api, trans } = this.foldnote;
    const { path } = context;
    const onEdit = (): void => void this.app.commands.execute('docmanager:open', { path, factory: 'Editor' });
    const content = new StructurePanel({ path, api, trans, onEdit });
    content.title.icon =
      this.app.docRegistry.getFileTypeForModel({ path, name: path, type: 'file' }).icon ?? structureIcon;
    context.fileChanged.connect(() => content.reload());
    return new DocumentWidget({ content, context });
  }

  private readonly app: JupyterFrontEnd;
  private readonly foldnote: IFoldnote;
}
