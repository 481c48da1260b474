/** Structure files open from JupyterLab's file browser in our viewer; the text editor stays one choice away. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  ABCWidgetFactory,
  DocumentWidget,
  type DocumentRegistry,
  type IDocumentWidget
} from '@jupyterlab/docregistry';

import { proteinIcon } from '../icons';
import { StructurePanel } from '../panels/structure';
import { IFoldnote } from '../tokens';

/** Kinds of files: name, what people call them, endings. */
const TYPES = [
  ['foldnote-pdb', 'PDB structure', ['.pdb', '.ent', '.pdb.gz', '.ent.gz']],
  ['foldnote-cif', 'mmCIF structure', ['.cif', '.mmcif', '.cif.gz', '.mmcif.gz']],
  ['foldnote-bcif', 'BinaryCIF structure', ['.bcif', '.bcif.gz']]
] as const;

/** The viewer of structure files. */
export const structuresPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:structures',
  description: 'Opens structure files from the file browser in 3D.',
  autoStart: true,
  requires: [IFoldnote],
  activate: (app: JupyterFrontEnd, foldnote: IFoldnote) => {
    for (const [name, displayName, extensions] of TYPES) {
      app.docRegistry.addFileType({
        name,
        displayName: foldnote.trans.__(displayName),
        extensions: [...extensions],
        mimeTypes: ['application/octet-stream'],
        fileFormat: 'base64',
        contentType: 'file',
        icon: proteinIcon
      });
    }
    const names = TYPES.map(([name]) => name);
    const factory = new StructureFactory(foldnote, {
      name: 'foldnote structure',
      label: foldnote.trans.__('Structure in 3D'),
      modelName: 'base64',
      readOnly: true,
      fileTypes: names,
      defaultFor: names
    });
    app.docRegistry.addWidgetFactory(factory as unknown as DocumentRegistry.WidgetFactory); // its types are older
  }
};

class StructureFactory extends ABCWidgetFactory<IDocumentWidget<StructurePanel>> {
  constructor(foldnote: IFoldnote, options: DocumentRegistry.IWidgetFactoryOptions) {
    super(options);
    this.foldnote = foldnote;
  }

  protected createNewWidget(context: DocumentRegistry.Context): IDocumentWidget<StructurePanel> {
    const { api, trans } = this.foldnote;
    const content = new StructurePanel({ path: context.path, api, trans });
    content.title.icon = proteinIcon;
    context.fileChanged.connect(() => content.reload());
    return new DocumentWidget({ content, context });
  }

  private readonly foldnote: IFoldnote;
}
