import { type EmbeddedStore, startEmbeddedStore } from "@/embedded/store/server/embedded_store.ts";
import type { Config } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";

/**
 * Starts the embedded store and lets the pages of this process, under each of its names, use it from a browser.
 *
 * @param site where this process listens, under the scheme that browsers use
 * @param failed called with a sentence when the store ends by itself
 * @throws DataFolderError
 */
export async function startStore(
  config: Config,
  folder: DataFolder,
  site: { readonly origin: string; readonly port: number },
  failed: (message: string) => void,
): Promise<EmbeddedStore> {
  const store = await startEmbeddedStore({
    folder: folder.path,
    hostname: config.embedded.host,
    accounts: config.embedded.administrators === null
      ? { samples: { converterPassword: folder.secret("converter-password") } }
      : { administrators: config.embedded.administrators },
    publicEndpoint: config.embedded.publicEndpoint,
  }, (message) => failed(`The embedded store ended: ${message}`));
  const { protocol } = new URL(site.origin);
  const names = config.server.allowedHosts ?? [];
  const listed = config.gateway?.corsOrigins ?? [];
  await store.allowOrigins([
    site.origin,
    ...(config.server.publicOrigin === null ? [] : [config.server.publicOrigin]),
    ...names.map((name) => new URL(`${protocol}//${name}:${site.port}`).origin),
    ...(listed === "*" ? [] : listed),
  ]);
  return store;
}
