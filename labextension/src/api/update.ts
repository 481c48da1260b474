/** Detects whether the server has another build of this extension than the page, as after an update of foldnote. */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

const NAME = 'foldnote';

/** An extension in the page's configuration. */
interface Loaded {
  readonly name?: unknown;
  /** Its first script; the name contains the hash of its contents. */
  readonly load?: unknown;
}

/** The extension's `package.json` on the server. */
interface Packed {
  readonly jupyterlab?: { readonly _build?: { readonly load?: unknown } };
}

/** Asks the server; false if it does not respond or the response is inconclusive. */
export async function isOutdated(settings = ServerConnection.makeSettings()): Promise<boolean> {
  try {
    const extensions = JSON.parse(PageConfig.getOption('federated_extensions') || '[]') as Loaded[];
    const loaded = extensions.find(({ name }) => name === NAME)?.load;
    const path = URLExt.join(PageConfig.getOption('fullLabextensionsUrl'), NAME, 'package.json');
    const address = new URL(path, settings.baseUrl).href;
    const response = await ServerConnection.makeRequest(address, { cache: 'no-store' }, settings);
    const there = ((await response.json()) as Packed).jupyterlab?._build?.load;
    return typeof loaded === 'string' && typeof there === 'string' && there !== loaded;
  } catch {
    return false;
  }
}
