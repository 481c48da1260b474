/**
 * An output that shows a live widget while its kernel is running, and its saved text otherwise.
 *
 * For an output whose model is gone, ipywidgets shows "Error displaying widget" and never the saved text. This renderer
 * delegates to the widget's own renderer, observes it, and shows the saved text (sanitised, but with its styles where the
 * notebook is trusted) instead of the error. If the widget appears later, it replaces the text again.
 */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { PanelLayout, Widget } from '@lumino/widgets';

import { PLAIN, type Trans } from '../models/translation';

/**
 * MIME type in the bundles of our forms and cards. Its `view` is the live widget, unless the bundle has it under its
 * own MIME type, which pages made from a notebook would show instead of the saved text. A higher version number comes
 * from a newer foldnote that this page does not support.
 */
export const FOLDNOTE_MIME = 'application/vnd.foldnote.widget+json';
const VERSION = 1;

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';
const HTML_MIME = 'text/html';
const ERROR_TEXT = 'Error displaying widget';
const LOADING_TEXT = 'Loading widget';
const TIMEOUT_MS = 6000;
const MANAGER_POLL_MS = 300;
const CONTROLS = 'button, input, select, textarea, summary, [tabindex]';

/** The page's source of information on updates of foldnote. */
export interface Updates {
  /** Whether the server has another build of this extension than the page. */
  readonly isOutdated: () => Promise<boolean>;
  readonly trans: Trans;
}

const NO_UPDATES: Updates = { isOutdated: () => Promise.resolve(false), trans: PLAIN };

/** Renders the live widget of a bundle, or its saved text. */
export class WidgetOrFallback extends Widget implements IRenderMime.IRenderer {
  /**
   * @param options - the options of every renderer
   * @param findRegistry - finds the registry of the notebook that contains a node
   * @param timeoutMs - how long to wait for a widget before showing the saved text, in milliseconds
   * @param updates - tells whether an update is why a widget cannot be shown
   */
  constructor(
    options: IRenderMime.IRendererOptions,
    findRegistry: (node: Node) => IRenderMimeRegistry,
    timeoutMs: number = TIMEOUT_MS,
    updates: Updates = NO_UPDATES
  ) {
    super();
    this.updates = updates;
    this.sanitizer = options.sanitizer;
    this.findRegistry = findRegistry;
    this.timeoutMs = timeoutMs;
    this.layout = new PanelLayout();
    this.addClass('fn-WidgetOutput');
    this.node.addEventListener('keydown', stopKeyEvents);
  }

  /**
   * Shows the bundle, once the output is in the document, because only then its notebook is known. A new bundle of the same
   * widget changes only the saved text: the live widget keeps its place, focus and contents.
   */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const isSame = this.live !== null && widgetId(model) === widgetId(this.model);
    this.model = model;
    if (this.isAttached && !isSame) {
      await this.display(model);
    } else if (this.saved) {
      this.showSaved();
    }
  }

  /** Stops observing. */
  override dispose(): void {
    this.observer.disconnect();
    clearTimeout(this.timer);
    clearInterval(this.managerPoll);
    super.dispose();
  }

  protected override onAfterAttach(): void {
    if (this.model && !this.live) {
      void this.display(this.model);
    }
  }

  private async display(model: IRenderMime.IMimeModel): Promise<void> {
    const registry = this.findRegistry(this.node);
    if (!findWidgetView(model) || !registry.mimeTypes.includes(WIDGET_MIME)) {
      this.showSaved();
      return;
    }
    this.showLive(registry, model);
    clearInterval(this.managerPoll);
    this.managerPoll = setInterval(() => this.checkForManager(registry), MANAGER_POLL_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.checkOutput(true), this.timeoutMs);
    await Promise.resolve();
  }

  /** Renders the widget with its own renderer, and observes the output. */
  private showLive(registry: IRenderMimeRegistry, model: IRenderMime.IMimeModel): void {
    this.live?.dispose();
    this.factory = registry.getFactory(WIDGET_MIME);
    const live = registry.createRenderer(WIDGET_MIME);
    this.live = live;
    if (this.saved) {
      live.hide();
    }
    this.stack.addWidget(live);
    this.observer.disconnect();
    this.observer.observe(live.node, { childList: true, characterData: true, subtree: true });
    const { metadata, trusted } = model;
    const data = { ...model.data, [WIDGET_MIME]: findWidgetView(model) };
    const liveModel: IRenderMime.IMimeModel = { data, metadata, trusted, setData: change => model.setData(change) };
    live.renderModel(liveModel).then(
      () => this.checkOutput(),
      (error: unknown) => {
        if (!live.isDisposed) {
          throw error; // ipywidgets may add the view to a renderer that a new output has replaced meanwhile
        }
      }
    );
  }

  /**
   * Recreates the widget's renderer when the notebook gets its widget manager. ipywidgets passes the manager to the
   * renderers in the outputs when the kernel connects, but does not find ours, which is nested.
   */
  private checkForManager(registry: IRenderMimeRegistry): void {
    if (!this.live?.node.textContent.startsWith(LOADING_TEXT)) {
      clearInterval(this.managerPoll);
    } else if (this.model && registry.getFactory(WIDGET_MIME) !== this.factory) {
      this.showLive(registry, this.model);
    }
  }

  /** Shows the saved text if the widget's renderer shows an error, or still waits when `hasTimedOut`; else the widget. */
  private checkOutput(hasTimedOut = false): void {
    if (!this.live || this.isDisposed) {
      return;
    }
    const text = this.live.node.textContent;
    const hasFailed = text.startsWith(ERROR_TEXT) || (hasTimedOut && text.startsWith(LOADING_TEXT));
    if (hasFailed) {
      this.showSaved();
    } else if (!text.startsWith(LOADING_TEXT)) {
      this.hideSaved();
    }
  }

  /** Shows the saved text, and hides the widget. */
  private showSaved(): void {
    const html = this.model?.data[HTML_MIME];
    if (html === this.savedHtml || !this.model || typeof html !== 'string') {
      return;
    }
    const saved = new Widget();
    this.saved?.dispose();
    this.saved = saved;
    this.savedHtml = html;
    saved.addClass('fn-WidgetOutput-saved');
    saved.addClass('jp-RenderedHTMLCommon');
    saved.node.innerHTML = this.sanitizer.sanitize(html);
    saved.node.prepend(...(this.model.trusted ? copyStyles(html) : []));
    this.stack.insertWidget(0, saved);
    this.live?.hide();
    void this.updates
      .isOutdated()
      .then(isOutdated => isOutdated && saved.node.prepend(createUpdateNotice(this.updates.trans)));
  }

  /** Removes the saved text, and shows the widget. */
  private hideSaved(): void {
    this.saved?.dispose();
    this.saved = this.savedHtml = null;
    this.live?.show();
  }

  private get stack(): PanelLayout {
    return this.layout as PanelLayout;
  }

  private readonly updates: Updates;
  private readonly sanitizer: IRenderMime.ISanitizer;
  private readonly findRegistry: (node: Node) => IRenderMimeRegistry;
  private readonly timeoutMs: number;
  private readonly observer = new MutationObserver(() => this.checkOutput());
  private timer: ReturnType<typeof setTimeout> | undefined;
  private managerPoll: ReturnType<typeof setInterval> | undefined;
  private factory: IRenderMime.IRendererFactory | undefined;
  private model: IRenderMime.IMimeModel | null = null;
  private live: IRenderMime.IRenderer | null = null;
  private saved: Widget | null = null;
  private savedHtml: string | null = null;
}

/** Model id of the widget in a bundle; null without one. */
function widgetId(model: IRenderMime.IMimeModel | null): unknown {
  const view: unknown = model && findWidgetView(model);
  return view instanceof Object && 'model_id' in view ? view.model_id : null;
}

/** The live widget of a bundle. */
function findWidgetView(model: IRenderMime.IMimeModel): ReadonlyPartialJSONValue | undefined {
  const bundle = model.data[FOLDNOTE_MIME];
  const isSupported = bundle instanceof Object && 'view' in bundle && (bundle.version ?? VERSION) === VERSION;
  return model.data[WIDGET_MIME] ?? (isSupported ? bundle.view : undefined);
}

/** The style sheets of a saved text. */
function copyStyles(html: string): HTMLStyleElement[] {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  return [...parsed.querySelectorAll('style')].map(({ textContent }) =>
    Object.assign(document.createElement('style'), { textContent })
  );
}

/** Returns a notice above the saved text that the page is older than foldnote, with a link that reloads it. */
function createUpdateNotice(trans: Trans): HTMLElement {
  const link = document.createElement('a');
  link.href = window.location.href;
  link.textContent = trans.__('Reload this page');
  link.addEventListener('click', event => {
    event.preventDefault();
    window.location.reload();
  });
  const notice = document.createElement('p');
  notice.className = 'fn-WidgetOutput-updated';
  notice.setAttribute('role', 'status');
  notice.append(trans.__('foldnote has been updated since this page was opened.'), ' ', link);
  return notice;
}

/**
 * Keeps the notebook's shortcuts from handling keys that a control needs: otherwise `m` in a drop-down list converts the
 * cell to Markdown, arrows leave the list, and Enter on a button edits the cell. Shortcuts with a modifier still work.
 */
function stopKeyEvents(event: KeyboardEvent): void {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const isShortcut = hasModifier || event.key === 'Escape' || (event.key === 'Enter' && event.shiftKey);
  if (!isShortcut && event.target instanceof Element && event.target.closest(CONTROLS)) {
    event.stopPropagation();
  }
}
