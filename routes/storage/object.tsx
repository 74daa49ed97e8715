import { FolderPath } from "@/components/storage/folder_path.tsx";
import { ObjectDetails } from "@/components/storage/object_details.tsx";
import { readObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import { KeyName } from "@/components/storage/key_name.tsx";
import { folderOf, nameIn, plainName } from "@/lib/presentation/storage/key_names.ts";
import { downloadPath, type ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { gatewayTarget } from "@/lib/storage/door_path.ts";
import { LoginEnded, storagePage, type StoragePageDeps, type StorageView } from "./storage_page.tsx";

/** `/storage/object`: what is known of an object, and its download. */
export function objectPageRoute(deps: StoragePageDeps) {
  return storagePage(deps, async ({ context, query, login, account }) => {
    const address: ObjectAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      key: query.get("key") ?? "",
      version: query.get("version") ?? undefined,
    };
    const [path, parameters] = downloadPath(address).split("?", 2);
    const target = gatewayTarget({ path, query: parameters });
    const response = target && await deps.gateway.head(target, login, context);
    if (response?.status === 401) throw new LoginEnded();
    const folder = folderOf(address.key);
    const name = nameIn(folder, address.key);
    const status = response?.status ?? 404;
    return {
      title: `${plainName(name)} · ${STORAGE_LABELS.storage}`,
      status: status === 404 ? 404 : undefined,
      body: (
        <div class="files">
          <FolderPath account={account} bucket={address.bucket} prefix={`${folder}${name}`} />
          <div class="head">
            <h1 class="vid">
              <KeyName name={name} />
            </h1>
          </div>
          {response && status === 200
            ? (
              <div class="object">
                <ObjectDetails
                  address={address}
                  facts={readObjectFacts(response.headers)}
                  style={{ zone: "UTC", now: deps.now() }}
                />
              </div>
            )
            : <p class="banner bad">{storageProblem(status, "object")}</p>}
        </div>
      ),
    } satisfies StorageView;
  });
}
