/** Tabs over two or more views, with the keyboard behaviour of a tab list. */
import { useRef, type KeyboardEvent, type ReactElement, type ReactNode } from 'react';

/** One tab. */
export interface Tab<K extends string> {
  readonly key: K;
  readonly label: string;
}

/** Props of the tabs. */
export interface TabsProps<K extends string> {
  /** Distinguishes several tab lists on the same page. */
  readonly id: string;
  readonly label: string;
  readonly tabs: readonly Tab<K>[];
  readonly chosen: K;
  readonly onChoose: (key: K) => void;
  /** Content at the right end. */
  readonly extra?: ReactNode;
  /** The selected view. */
  readonly children: ReactNode;
}

/** Tabs over a view. */
export function Tabs<K extends string>(props: TabsProps<K>): ReactElement {
  const { tabs, chosen, onChoose } = props;
  const tabId = (key: string): string => `fn-tab-${props.id}-${key}`;
  const panelId = `fn-panel-${props.id}`;
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const index = tabs.findIndex(tab => tab.key === chosen);
    const next = tabs[(index + step + tabs.length) % tabs.length];
    if (step !== 0 && next) {
      event.preventDefault();
      onChoose(next.key);
      list.current?.querySelector<HTMLElement>(`#${tabId(next.key)}`)?.focus();
    }
  };
  return (
    <>
      <div className="fn-Tabs">
        <div role="tablist" aria-label={props.label} ref={list} onKeyDown={onKeyDown}>
          {tabs.map(tab => (
            <button
              key={tab.key}
              id={tabId(tab.key)}
              type="button"
              role="tab"
              className="fn-Tab"
              aria-selected={tab.key === chosen}
              aria-controls={tab.key === chosen ? panelId : undefined}
              tabIndex={tab.key === chosen ? 0 : -1}
              onClick={() => onChoose(tab.key)}
            >
              {tab.label}
            </button>
          ))}
        </div>
        {props.extra}
      </div>
      <div className="fn-TabPanel" role="tabpanel" id={panelId} aria-labelledby={tabId(chosen)}>
        {props.children}
      </div>
    </>
  );
}
