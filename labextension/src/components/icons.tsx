/**
 * The small drawings of the views. They take the colour of the text around them and say nothing by themselves: words
 * stand beside them or in the label of their button.
 */
import type { ReactElement, ReactNode } from 'react';

import type { ShownState } from '../models/status';

function Glyph({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <svg className="fn-Glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

const STROKE = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.5,
  strokeLinecap: 'round',
  strokeLinejoin: 'round'
} as const;

const FOLDER = 'M2 4.5a1 1 0 0 1 1-1h3l1.6 1.8H13a1 1 0 0 1 1 1v5.7a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z';

/** The sign of a job's state; each differs in shape, not only in colour. */
export function StateIcon({ state }: { readonly state: ShownState }): ReactElement {
  return (
    <span className={`fn-StateIcon fn-mod-${state}`}>
      <Glyph>{STATE_SHAPES[state]}</Glyph>
    </span>
  );
}

const STATE_SHAPES: Readonly<Record<ShownState, ReactElement>> = {
  queued: (
    <>
      <circle cx="8" cy="8" r="5.75" {...STROKE} strokeDasharray="2.2 2.3" />
      <path d="M8 5.2V8l1.8 1.4" {...STROKE} />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="5.75" {...STROKE} opacity="0.3" />
      <path className="fn-Glyph-turning" d="M8 2.25A5.75 5.75 0 0 1 13.75 8" {...STROKE} strokeWidth="2" />
    </>
  ),
  complete: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path className="fn-Glyph-cut" d="M5.2 8.2l2 2 3.7-4.2" {...STROKE} />
    </>
  ),
  stopped: (
    <>
      <circle cx="8" cy="8" r="5.75" {...STROKE} />
      <rect x="5.75" y="5.75" width="4.5" height="4.5" rx="0.5" fill="currentColor" />
    </>
  ),
  failed: (
    <>
      <path d="M8 1.6l6.6 11.9H1.4z" fill="currentColor" stroke="currentColor" strokeLinejoin="round" />
      <path className="fn-Glyph-cut" d="M8 6v3.4M8 11.6v.1" {...STROKE} />
    </>
  )
};

/** Stop. */
export const StopIcon = (): ReactElement => (
  <Glyph>
    <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />
  </Glyph>
);

/** Lines of text: the log. */
export const LogIcon = (): ReactElement => (
  <Glyph>
    <path d="M3 4h10M3 8h10M3 12h6" {...STROKE} />
  </Glyph>
);

/** A bin. */
export const DeleteIcon = (): ReactElement => (
  <Glyph>
    <path
      d="M2.5 4.5h11M6 4.3V2.5h4v1.8M4 4.5l.6 8.2a.9.9 0 0 0 .9.8h5a.9.9 0 0 0 .9-.8l.6-8.2M6.7 7v4M9.3 7v4"
      {...STROKE}
      strokeWidth={1.3}
    />
  </Glyph>
);

/** A cell with a plus. */
export const InsertIcon = (): ReactElement => (
  <Glyph>
    <path d="M13.5 7V3.5a1 1 0 0 0-1-1h-9a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1H7M12 9.5v5M9.5 12h5" {...STROKE} />
  </Glyph>
);

/** A plus. */
export const PlusIcon = (): ReactElement => (
  <Glyph>
    <path d="M8 3v10M3 8h10" {...STROKE} />
  </Glyph>
);

/** A circle arrow. */
export const RefreshIcon = (): ReactElement => (
  <Glyph>
    <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.2v2.9h-2.9" {...STROKE} />
  </Glyph>
);

/** A lens. */
export const SearchIcon = (): ReactElement => (
  <Glyph>
    <circle cx="7" cy="7" r="4.25" {...STROKE} />
    <path d="M10.2 10.2L13.5 13.5" {...STROKE} />
  </Glyph>
);

/** A cross. */
export const CloseIcon = (): ReactElement => (
  <Glyph>
    <path d="M4 4l8 8M12 4l-8 8" {...STROKE} />
  </Glyph>
);

/** Three dots: more. */
export const MoreIcon = (): ReactElement => (
  <Glyph>
    <circle cx="8" cy="3.5" r="1.3" fill="currentColor" />
    <circle cx="8" cy="8" r="1.3" fill="currentColor" />
    <circle cx="8" cy="12.5" r="1.3" fill="currentColor" />
  </Glyph>
);

/** A window with an arrow out of it: open the result. */
export const OpenIcon = (): ReactElement => (
  <Glyph>
    <path d="M7 3H3.5a1 1 0 0 0-1 1v8.5a1 1 0 0 0 1 1H12a1 1 0 0 0 1-1V9M9.5 2.5h4v4M13 3L7.5 8.5" {...STROKE} />
  </Glyph>
);

/** An arrow down to a tray. */
export const DownloadIcon = (): ReactElement => (
  <Glyph>
    <path d="M8 2.5v7M5 6.8L8 9.8l3-3M2.5 11v1.5a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V11" {...STROKE} />
  </Glyph>
);

/** An arrow up from a tray. */
export const UploadIcon = (): ReactElement => (
  <Glyph>
    <path d="M8 9.8v-7M5 5.5l3-3 3 3M2.5 11v1.5a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1V11" {...STROKE} />
  </Glyph>
);

/** An arrowhead that points right when closed and down when open. */
export const FoldIcon = ({ isOpen }: { readonly isOpen: boolean }): ReactElement => (
  <Glyph>
    <path d={isOpen ? 'M4 6l4 4 4-4' : 'M6 4l4 4-4 4'} {...STROKE} />
  </Glyph>
);

/** A sheet. */
export const FileIcon = (): ReactElement => (
  <Glyph>
    <path d="M4 2.5h5l3 3v7a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM9 2.5v3h3" {...STROKE} />
  </Glyph>
);

/** A label with a hole: tag. */
export const TagIcon = (): ReactElement => (
  <Glyph>
    <path d="M2.5 7.5v-4a1 1 0 0 1 1-1h4l6 6-5 5z" {...STROKE} />
    <circle cx="5.4" cy="5.4" r="1" fill="currentColor" />
  </Glyph>
);

/** A table of three columns. */
export const ColumnsIcon = (): ReactElement => (
  <Glyph>
    <path d="M3.5 2.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM6.2 2.5v11M9.8 2.5v11" {...STROKE} />
  </Glyph>
);

/** A check mark. */
export const CheckIcon = (): ReactElement => (
  <Glyph>
    <path d="M3.5 8.5l3 3 6-7" {...STROKE} />
  </Glyph>
);

/** A folder. */
export const FolderIcon = (): ReactElement => (
  <Glyph>
    <path d={FOLDER} {...STROKE} />
  </Glyph>
);

/** A folder with a plus. */
export const NewFolderIcon = (): ReactElement => (
  <Glyph>
    <path d={`${FOLDER}M8 7v4M6 9h4`} {...STROKE} />
  </Glyph>
);
