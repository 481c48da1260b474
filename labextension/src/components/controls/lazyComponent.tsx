/** Parts of the views that are loaded when they are first shown, which makes JupyterLab start faster. */
import { lazy, Suspense, type ComponentType, type ReactElement } from 'react';

import { Notice } from './Notice';
import { useTranslation } from '../translation';

/**
 * A component that is loaded when it is first shown.
 *
 * @param load - imports it; if that fails because foldnote was updated or the server is gone, a sentence says so
 */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const Loaded = lazy(() =>
    load().then(
      component => ({ default: component }),
      () => ({ default: NotLoaded as ComponentType<P> })
    )
  ) as unknown as ComponentType<P>;
  return function Later(props: P): ReactElement {
    return (
      <Suspense fallback={null}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}

function NotLoaded(): ReactElement {
  const trans = useTranslation();
  return (
    <Notice
      tone="warning"
      title={trans.__('This part of foldnote could not be loaded')}
      action={{ label: trans.__('Reload This Page'), onClick: () => window.location.reload() }}
    >
      {trans.__('foldnote has been updated since this page was opened, or the Jupyter server does not answer.')}
    </Notice>
  );
}
