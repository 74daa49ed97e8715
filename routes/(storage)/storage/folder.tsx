import { KeyName } from "@/components/storage/key_name.tsx";
import { FolderPath, IncompleteAddress } from "@/components/storage/storage_frame.tsx";
import StorageFolder from "@/islands/storage_folder.tsx";
import StorageUploads from "@/islands/storage_uploads.tsx";
import { foldersOf, plainName } from "@/lib/pages/storage/key_names.ts";
import { folderPageOf, justBefore } from "@/lib/pages/storage/folder_listing.ts";
import type { FolderAddress } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import { statusWithout } from "@/lib/site/storage/storage_visit.ts";

/** Names of a page. */
const PAGE_ROWS = 1000;

/** `/storage/folder`: the folders and objects below a prefix, by pages. */
export const handler = defineStorage.handlers({
  async GET({ state }) {
    const { visit } = state;
    const { query, account } = visit;
    const folder: FolderAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      prefix: query.get("prefix") ?? "",
      find: query.get("find") ?? "",
      from: query.get("from") ?? "",
    };
    if (folder.bucket === "") return await visit.page(null, 400);
    const name = foldersOf(folder.prefix).at(-1)?.name ?? folder.bucket;
    state.title = `${plainName(name)} · ${STORAGE_LABELS.storage}`;
    const read = await readFolder(state, folder);
    return await visit.page({ folder, name, read }, read.page ? undefined : statusWithout(read.status));
  },
});

async function readFolder({ visit, storage }: StorageState, folder: FolderAddress) {
  const { bucket, prefix, find = "", from = "" } = folder;
  const query = new URLSearchParams({ prefix: prefix + find, delimiter: "/", max_keys: String(PAGE_ROWS) });
  if (from !== "") query.set("start_after", justBefore(from));
  const path = `/buckets/${encodeURIComponent(bucket)}/objects?${query}`;
  const { status, found } = await visit.read<ObjectPage>(path);
  if (found === null) return { problem: storageProblem(status, "folder"), status };
  const page = folderPageOf(found, prefix);
  return { page, found: await storage.facts.rights(visit.login, bucket, visit.context) };
}

export default defineStorage.page<typeof handler>(function Folder({ data, state }) {
  const { account, accounts, query } = state.visit;
  if (data === null) return <IncompleteAddress account={account} accounts={accounts} lacks="bucket" />;
  const { folder, name, read } = data;
  const { bucket, prefix } = folder;
  return (
    <div class="files">
      <FolderPath {...folder} accounts={accounts} />
      <div class="head">
        <h1>
          <KeyName name={name} />
        </h1>
        {read.page && <StorageUploads folder={{ account, bucket, prefix }} name={name} found={read.found} />}
      </div>
      {!read.page ? <p class="banner bad">{read.problem}</p> : (
        <StorageFolder
          folder={folder}
          page={read.page}
          opened={query.get("open")}
          found={read.found}
          renderedAt={state.now()}
        />
      )}
    </div>
  );
});
