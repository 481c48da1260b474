/** Detects whether the server has another build of this extension than the page, as after an update of foldnote. */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

const NAME = 'foldnote';

/** An extension in the page's configuration. */
interface LoadedExtension {
  readonly name?: unknown;
  /** Its first script; the name contains the hash of its contents. */
  readonly load?: unknown;
}

/** The extension's `package.json` on the server. */
interface PackageManifest {
  readonly jupyterlab?: { readonly _build?: { readonly load?: unknown } };
}

/** Whether the builds differ; false if the server does not respond or either build is unknown. */
export async function isOutdated(settings = ServerConnection.makeSettings()): Promise<boolean> {
  try {
    const extensions = JSON.parse(PageConfig.getOption('federated_extensions') || '[]') as LoadedExtension[];
    const loadedScript = extensions.find(({ name }) => name === NAME)?.load;
    const path = URLExt.join(PageConfig.getOption('fullLabextensionsUrl'), NAME, 'package.json');
    const address = new URL(path, settings.baseUrl).href;
    const response = await ServerConnection.makeRequest(address, { cache: 'no-store' }, settings);
    const servedScript = ((await response.json()) as PackageManifest).jupyterlab?._build?.load;
    return typeof loadedScript === 'string' && typeof servedScript === 'string' && servedScript !== loadedScript;
  } catch {
    return false;
  }
}
