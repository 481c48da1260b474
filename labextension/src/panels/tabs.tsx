/** The sidebar's tabs of tools, engines and files: connect the models to the views. */
import { useEffect, type ReactElement } from 'react';

import { EnginesView } from '../components/tools/EnginesView';
import { FilesView } from '../components/files/FilesView';
import { useStore } from '../components/store';
import { ToolsView } from '../components/tools/ToolsView';
import { dragFrom, type DragItem } from '../dragging';
import { fileCode } from '../models/service/code';
import { visibleText } from '../models/formatting/text';
import type { SidebarOptions } from './sidebaroptions';

/** The catalog. */
export function ToolsTab({ foldnote, onNewCell }: SidebarOptions): ReactElement {
  const { api, tools } = foldnote;
  const state = useStore(tools);
  return (
    <ToolsView
      state={state}
      toolName={tools.displayName}
      onNewCell={onNewCell}
      onRetry={() => void tools.refresh()}
      advise={api.advise}
      describe={api.tool}
    />
  );
}

/** The engines of this computer, requested while they are displayed. */
export function EnginesTab(props: SidebarOptions): ReactElement {
  const { engines } = props.foldnote;
  const state = useStore(engines);
  useEffect(() => {
    engines.show(true);
    return () => engines.show(false);
  }, [engines]);
  return (
    <EnginesView state={state} onInstall={props.onInstall} onRemove={props.onRemove} onCancel={props.onCancelEngine} />
  );
}

/** The account's files. */
export function FilesTab({ foldnote, onInsertFile, onDeleteFile, onDeleteFolder }: SidebarOptions): ReactElement {
  const { files } = foldnote;
  const state = useStore(files);
  const needsReload = state.files === null && !state.isLoading && state.requestError === null; // because another service was selected
  useEffect(() => {
    if (needsReload) {
      void files.refresh();
    }
  }, [files, needsReload]);
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
      onLoadMore={() => void files.loadMore()}
      onRetry={() => void files.refresh()}
    />
  );
}

/** A file of the account as a dragged item. */
function draggedFile(path: string): DragItem {
  const code = fileCode(path);
  const cell = `import foldnote as fn\n\n${code}`;
  return { label: visibleText(path), code, cell, value: { kind: 'upload', name: path } };
}
