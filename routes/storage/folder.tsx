import { FolderPath } from "@/components/storage/folder_path.tsx";
import { FolderRowCells } from "@/components/storage/folder_rows.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { foldersOf, plainName } from "@/lib/presentation/storage/key_names.ts";
import { type FolderPage, justBefore, readFolderPage } from "@/lib/presentation/storage/listing.ts";
import { type FolderAddress, folderPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { LoginEnded, storagePage, type StoragePageDeps, type StorageView, type StorageVisit } from "./storage_page.tsx";

/** Names of a page. */
const PAGE_ROWS = 1000;

/** `/storage/folder`: the folders and objects below a prefix, by pages. */
export function folderPageRoute(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { query, account } = visit;
    const folder: FolderAddress = {
      account,
      bucket: query.get("bucket") ?? "",
      prefix: query.get("prefix") ?? "",
      find: query.get("find") ?? "",
      from: query.get("from") ?? "",
    };
    const name = foldersOf(folder.prefix).at(-1)?.name ?? folder.bucket;
    const read = await readFolder(deps, visit, folder);
    return {
      title: `${plainName(name)} · ${STORAGE_LABELS.storage}`,
      status: "problem" in read && read.status === 404 ? 404 : undefined,
      body: (
        <div class="files">
          <FolderPath {...folder} />
          <div class="head">
            <h1>
              <KeyName name={name} />
            </h1>
          </div>
          <form class="tools" method="get" action="/storage/folder">
            <input type="hidden" name="account" value={account} />
            <input type="hidden" name="bucket" value={folder.bucket} />
            <input type="hidden" name="prefix" value={folder.prefix} />
            <label class="field">
              <span class="sr">{STORAGE_LABELS.find}</span>
              <input type="search" name="find" value={folder.find} placeholder={STORAGE_LABELS.findHint} />
            </label>
            <button class="btn" type="submit">{STORAGE_LABELS.show}</button>
          </form>
          {"problem" in read
            ? <p class="banner bad">{read.problem}</p>
            : <FolderTable folder={folder} name={name} page={read} now={deps.now()} />}
        </div>
      ),
    } satisfies StorageView;
  });
}

type Read = FolderPage | { readonly problem: string; readonly status: number };

async function readFolder(
  deps: StoragePageDeps,
  { context, login }: StorageVisit,
  folder: FolderAddress,
): Promise<Read> {
  const { bucket, prefix, find = "", from = "" } = folder;
  const query = new URLSearchParams({ prefix: prefix + find, delimiter: "/", max_keys: String(PAGE_ROWS) });
  if (from !== "") query.set("start_after", justBefore(from));
  const { status, json } = await deps.gateway.read(
    `/buckets/${encodeURIComponent(bucket)}/objects?${query}`,
    login,
    context,
  );
  if (status === 401) throw new LoginEnded();
  const page = status === 200 ? readFolderPage(json, prefix) : null;
  return page ?? { problem: storageProblem(status, "folder"), status };
}

interface FolderTableProps {
  readonly folder: FolderAddress;
  readonly name: string;
  readonly page: FolderPage;
  /** ms since 1970 */
  readonly now: number;
}

function FolderTable({ folder, name, page: { rows, next }, now }: FolderTableProps) {
  const { find = "" } = folder;
  if (rows.length === 0) {
    return <p class="empty">{find === "" ? STORAGE_SENTENCES.emptyFolder : STORAGE_SENTENCES.noneFound(find)}</p>;
  }
  const style = { zone: "UTC", now };
  const last = rows.at(-1);
  return (
    <>
      <section class="objs" aria-label={STORAGE_LABELS.contentsOf(plainName(name))}>
        <table>
          <caption class="sr">{STORAGE_LABELS.rowOrder}</caption>
          <thead>
            <tr>
              <th scope="col">{STORAGE_LABELS.name}</th>
              <th scope="col" class="kind">{STORAGE_LABELS.kind}</th>
              <th scope="col" class="num size">{STORAGE_LABELS.size}</th>
              <th scope="col" class="num changed">{STORAGE_LABELS.changed}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <FolderRowCells row={row} folder={folder} style={style} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {next !== null && last && (
        <p class="more">
          <a class="btn" href={folderPath({ ...folder, from: last.key })}>{STORAGE_LABELS.nextRows}</a>
        </p>
      )}
    </>
  );
}
