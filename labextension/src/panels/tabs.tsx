/** The sidebar's tabs of tools and files: connect the models to the views. */
import { type ReactElement } from 'react';

import { EnginesView } from '../components/EnginesView';
import { FilesView } from '../components/FilesView';
import { useStore } from '../components/store';
import { ToolsView } from '../components/ToolsView';
import { dragFrom, type Dragged } from '../dragging';
import { fileCode } from '../models/code';
import { visibleText } from '../models/text';
import type { SidebarOptions } from './sidebar';

/** The catalog, and the engines if the service is on this computer. */
export function ToolsTab(props: SidebarOptions): ReactElement {
  const { foldnote, onNewCell, onInstall, onRemove, onCancelEngine } = props;
  const { api, engines, tools } = foldnote;
  const state = useStore(tools);
  const found = useStore(engines);
  return (
    <ToolsView
      state={state}
      toolName={tools.displayName}
      onNewCell={onNewCell}
      onRetry={() => void tools.refresh()}
      onAsk={api.advise}
      describe={api.tool}
      engines={
        state.service?.isEmbedded && (
          <EnginesView
            state={found}
            onInstall={onInstall}
            onRemove={onRemove}
            onCancel={onCancelEngine}
            onOpen={isOpen => engines.show(isOpen)}
          />
        )
      }
    />
  );
}

/** The account's files. */
export function FilesTab({ foldnote, onInsertFile, onDeleteFile, onDeleteFolder }: SidebarOptions): ReactElement {
  const { files } = foldnote;
  const state = useStore(files);
  return (
    <FilesView
      state={state}
      onUpload={chosen => void files.upload(chosen)}
      onResume={id => void files.retry(id)}
      onDismiss={id => files.dismiss(id)}
      onInsert={onInsertFile}
      onPressFile={(event, path) => dragFrom(event, () => draggedFile(path))}
      onDelete={onDeleteFile}
      onOpenFolder={folder => void files.open(folder)}
      onDeleteFolder={onDeleteFolder}
      onMore={() => void files.loadMore()}
      onRetry={() => void files.refresh()}
    />
  );
}

/** A file of the account as a dragged item. */
function draggedFile(path: string): Dragged {
  const code = fileCode(path);
  const cell = `import foldnote as fn\n\n${code}`;
  return { label: visibleText(path), code, cell, value: { kind: 'upload', name: path } };
}
