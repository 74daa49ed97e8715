import { KeyName } from "@/components/storage/key_name.tsx";
import { FolderPath } from "@/components/storage/storage_frame.tsx";
import StorageFolder from "@/islands/storage_folder.tsx";
import StorageUploads from "@/islands/storage_uploads.tsx";
import { foldersOf, plainName } from "@/lib/pages/storage/key_names.ts";
import { type FolderPage, folderPageOf, justBefore } from "@/lib/pages/storage/folder_listing.ts";
import type { FolderAddress } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import type { BucketRights } from "@/lib/auth/login_facts.ts";
import {
  incompleteView,
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Names of a page. */
const PAGE_ROWS = 1000;

/** `/storage/folder`: the folders and objects below a prefix, by pages. */
export function folderPageRoute(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { query, account, accounts } = visit;
    const folder: FolderAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      prefix: query.get("prefix") ?? "",
      find: query.get("find") ?? "",
      from: query.get("from") ?? "",
    };
    if (folder.bucket === "") return incompleteView(visit, "bucket");
    const name = foldersOf(folder.prefix).at(-1)?.name ?? folder.bucket;
    const read = await readFolder(deps, visit, folder);
    return {
      title: `${plainName(name)} · ${STORAGE_LABELS.storage}`,
      status: "problem" in read ? statusWithout(read.status) : undefined,
      body: (
        <div class="files">
          <FolderPath {...folder} accounts={accounts} />
          <div class="head">
            <h1>
              <KeyName name={name} />
            </h1>
            {!("problem" in read) && (
              <StorageUploads
                account={account}
                bucket={folder.bucket}
                prefix={folder.prefix}
                name={name}
                found={read.found}
              />
            )}
          </div>
          {"problem" in read ? <p class="banner bad">{read.problem}</p> : (
            <StorageFolder
              folder={folder}
              page={read.page}
              opened={query.get("open")}
              found={read.found}
              renderedAt={deps.now()}
            />
          )}
        </div>
      ),
    } satisfies StorageView;
  });
}

type Read =
  | { readonly page: FolderPage; readonly found: BucketRights }
  | { readonly problem: string; readonly status: number };

async function readFolder(
  deps: StoragePageDeps,
  { context, login, read }: StorageVisit,
  folder: FolderAddress,
): Promise<Read> {
  const { bucket, prefix, find = "", from = "" } = folder;
  const query = new URLSearchParams({ prefix: prefix + find, delimiter: "/", max_keys: String(PAGE_ROWS) });
  if (from !== "") query.set("start_after", justBefore(from));
  const path = `/buckets/${encodeURIComponent(bucket)}/objects?${query}`;
  const { status, found } = await read<ObjectPage>(path);
  if (found === null) return { problem: storageProblem(status, "folder"), status };
  const page = folderPageOf(found, prefix);
  return { page, found: await deps.facts.rights(login, bucket, context) };
}
