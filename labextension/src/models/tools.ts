/**
 * The page's model of the catalog, which is requested once, and again on demand.
 */
import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';
import type { ServiceReport, ToolRecord, ToolsResponse } from '../api/responses';
import { Store } from './store';
import { sentenceOf } from './text';
import { PLAIN, type Trans } from './words';

/** Source of tools. */
export interface ToolsSource {
  tools(): Promise<ToolsResponse>;
}

/** Everything a view shows about tools. */
export interface ToolsState {
  /** Null before the first answer. */
  readonly tools: readonly ToolRecord[] | null;
  readonly service: ServiceReport | null;
  readonly isAsking: boolean;
  /** Why the Jupyter server did not answer; null if it does. */
  readonly lost: string | null;
}

const RETRY_MS = 2000;
const RETRIES = 30;

/** The tools of the service. */
export class ToolsModel extends Store<ToolsState> {
  constructor(source: ToolsSource, retryMs: number = RETRY_MS) {
    super({ tools: null, service: null, isAsking: false, lost: null });
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
    const { turn } = this;
    this.asking ??= this.ask().finally(() => {
      if (turn === this.turn) {
        this.asking = null;
        this.update({ isAsking: false });
      }
    });
    return this.asking;
  }

  /** Display name of a tool; its type while the catalog is unknown. */
  readonly displayName = (type: string): string =>
    this.state().tools?.find(tool => tool.type === type)?.displayName ?? type;

  /** Resets the state after switching to another service. */
  reset(): void {
    this.turn += 1;
    this.asking = null;
    this.update({ tools: null, service: null, lost: null });
    void this.refresh();
  }

  private async ask(): Promise<readonly ToolRecord[]> {
    const { turn } = this;
    this.update({ isAsking: true, lost: null });
    for (let attempt = 0; attempt < RETRIES; attempt += 1) {
      const answer = await this.source.tools().catch(sentenceOf);
      if (turn !== this.turn) {
        return this.refresh(); // of the service that was selected meanwhile
      }
      if (typeof answer === 'string') {
        this.update({ lost: answer });
        return [];
      }
      const tools = this.keep(answer.tools);
      this.update({ tools, service: answer.service, lost: null });
      if (answer.service.state !== 'starting') {
        return tools;
      }
      await new Promise(resolve => setTimeout(resolve, this.retryMs));
    }
    return this.state().tools ?? [];
  }

  /** Keeps the known list if the response is equal, so that open menus and lists are not rebuilt. */
  private keep(answered: readonly ToolRecord[]): readonly ToolRecord[] {
    const known = this.state().tools;
    return known && haveSameTools(known, answered) ? known : answered;
  }

  private readonly source: ToolsSource;
  private readonly retryMs: number;
  private asking: Promise<readonly ToolRecord[]> | null = null;
  private turn = 0;
}

function haveSameTools(known: readonly ToolRecord[], answered: readonly ToolRecord[]): boolean {
  return JSONExt.deepEqual(known as unknown as ReadonlyJSONValue, answered as unknown as ReadonlyJSONValue);
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
export function plainWords(word: string): string {
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
    .map(([type, members]) => ({ type, family: plainWords(type || 'other'), tools: members }))
    .sort((a, b) => a.family.localeCompare(b.family));
}
