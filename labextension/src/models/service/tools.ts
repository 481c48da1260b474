/**
 * The page's model of the catalog, which is requested once, and again on demand.
 */
import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';
import type { ServiceReport, ToolRecord, ToolsResponse } from '../../api/responses';
import { Store } from '../store';
import { messageOf } from '../formatting/text';
import { PLAIN, type Trans } from '../translation';

/** Source of tools. */
export interface ToolsSource {
  tools(): Promise<ToolsResponse>;
}

/** Everything a view shows about tools. */
export interface ToolsState {
  /** Null before the first response. */
  readonly tools: readonly ToolRecord[] | null;
  readonly service: ServiceReport | null;
  readonly isLoading: boolean;
  /** Why the Jupyter server did not respond; null if it did. */
  readonly connectionError: string | null;
}

const RETRY_MS = 2000;
const RETRIES = 30;

/** The tools of the service. */
export class ToolsModel extends Store<ToolsState> {
  constructor(source: ToolsSource, retryMs: number = RETRY_MS) {
    super({ tools: null, service: null, isLoading: false, connectionError: null });
    this.source = source;
    this.retryMs = retryMs;
  }

  /** Loads the tools unless they are known, waiting for a service that is starting. */
  async load(): Promise<readonly ToolRecord[]> {
    const known = this.state().tools;
    return known && known.length > 0 ? known : this.refresh();
  }

  /** Requests the tools again; concurrent calls share one request. */
  refresh(): Promise<readonly ToolRecord[]> {
    const { generation } = this;
    this.request ??= this.requestUntilReady().finally(() => {
      if (generation === this.generation) {
        this.request = null;
        this.update({ isLoading: false });
      }
    });
    return this.request;
  }

  /** Display name of a tool; its type while the catalog is unknown. */
  readonly displayName = (type: string): string =>
    this.state().tools?.find(tool => tool.type === type)?.displayName ?? type;

  /** Resets the state after switching to another service. */
  reset(): void {
    this.generation += 1;
    this.request = null;
    this.update({ tools: null, service: null, connectionError: null });
    void this.refresh();
  }

  /** Requests the tools, repeatedly while the service is starting. */
  private async requestUntilReady(): Promise<readonly ToolRecord[]> {
    const { generation } = this;
    this.update({ isLoading: true, connectionError: null });
    for (let attempt = 0; attempt < RETRIES; attempt += 1) {
      const response = await this.source.tools().catch(messageOf);
      if (generation !== this.generation) {
        return this.refresh(); // of the service that was selected meanwhile
      }
      if (typeof response === 'string') {
        this.update({ connectionError: response });
        return [];
      }
      const tools = this.reuseIfEqual(response.tools);
      this.update({ tools, service: response.service, connectionError: null });
      if (response.service.state !== 'starting') {
        return tools;
      }
      await new Promise(resolve => setTimeout(resolve, this.retryMs));
    }
    return this.state().tools ?? [];
  }

  /** Keeps the known list if the response is equal, so that open menus and lists are not rebuilt. */
  private reuseIfEqual(received: readonly ToolRecord[]): readonly ToolRecord[] {
    const known = this.state().tools;
    return known && haveSameTools(known, received) ? known : received;
  }

  private readonly source: ToolsSource;
  private readonly retryMs: number;
  private request: Promise<readonly ToolRecord[]> | null = null;
  private generation = 0;
}

function haveSameTools(known: readonly ToolRecord[], received: readonly ToolRecord[]): boolean {
  return JSONExt.deepEqual(known as unknown as ReadonlyJSONValue, received as unknown as ReadonlyJSONValue);
}

/** Lower-case text in which a search finds the tool; after an update, the server provides it only once restarted. */
function searchTextOf(tool: ToolRecord): string {
  const { searchText, type, displayName, family, description } = tool;
  return searchText ?? [type, displayName, family, description].join(' ').toLowerCase();
}

/** The tools whose text holds every word of `query`, those that can run first, then by name. */
export function searchTools(tools: readonly ToolRecord[], query: string): readonly ToolRecord[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return tools
    .filter(tool => words.every(word => searchTextOf(tool).includes(word)))
    .sort((a, b) => Number(b.available) - Number(a.available) || a.displayName.localeCompare(b.displayName));
}

/** Describes how the method that is actually run relates to the tool's name; empty if nothing runs the tool. */
export function methodOf(tool: ToolRecord, trans: Trans = PLAIN): string {
  const { engine } = tool;
  if (!engine) {
    return '';
  }
  switch (engine.kind) {
    case 'substitute':
      return trans.__('%1 (substitute)', engine.method);
    case 'genuine-task':
      return trans.__('%1 (same task)', engine.method);
    case 'adapter':
      return trans.__('%1 (your installation)', engine.method);
    default:
      return engine.method;
  }
}

/** Formats an identifier of the catalog for display: `structure-prediction` is “Structure prediction”. */
export function readableName(word: string): string {
  const plain = word.replaceAll('-', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** The tools of one family. */
export interface ToolFamily {
  /** As in the catalog, such as `structure-prediction`; empty for tools without one. */
  readonly type: string;
  /** The displayed name. */
  readonly family: string;
  readonly tools: readonly ToolRecord[];
}

/** The tools by family, families by name, those that can run first in each. */
export function groupTools(tools: readonly ToolRecord[]): readonly ToolFamily[] {
  const families = new Map<string, ToolRecord[]>();
  for (const tool of searchTools(tools, '')) {
    families.set(tool.family, [...(families.get(tool.family) ?? []), tool]);
  }
  return [...families]
    .map(([type, members]) => ({ type, family: readableName(type || 'other'), tools: members }))
    .sort((a, b) => a.family.localeCompare(b.family));
}
