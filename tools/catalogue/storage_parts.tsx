import type { ComponentProps } from "preact";
import { encode } from "uqr";
import { FolderTable } from "@/components/storage/folder_table.tsx";
import { ObjectPanel } from "@/components/storage/object_panel.tsx";
import { ObjectPreview } from "@/components/storage/object_preview.tsx";
import { VersionComparison, VersionList } from "@/components/storage/object_versions.tsx";
import { SelectionBar } from "@/components/storage/selection_bar.tsx";
import { ShareLink } from "@/components/storage/share_link.tsx";
import { FolderPath } from "@/components/storage/storage_frame.tsx";
import { FolderTools } from "@/components/storage/folder_tools.tsx";
import StorageShare from "@/islands/storage_share.tsx";
import StorageTags from "@/islands/storage_tags.tsx";
import { SelectionActions } from "@/components/storage/selection_actions.tsx";
import { notOfferedSentence } from "@/lib/pages/storage/folder_changes_client.ts";
import { FIRST_ORDER, type StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import type { ObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import { STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { SAMPLE_NOW } from "@/tests/site/fake_campaigns.ts";
import { Part, State } from "./part.tsx";

/** The components of the storage pages, but for what moves objects. */
export function StorageParts() {
  return (
    <>
      <Part title="Accounts and the way to a folder">
        <FolderPath account={ACCOUNT} accounts={[ACCOUNT]} bucket="letters" prefix="" />
        <FolderPath account={ACCOUNT} accounts={[ACCOUNT, "admin"]} bucket="letters" prefix="1870/may/" />
      </Part>
      <Part title="Search of a folder">
        {[false, true].map((isMore) => (
          <State key={String(isMore)} name={isMore ? "long folder, begun in its middle" : "short folder"}>
            <div class="store">
              <FolderTools
                address={{ ...FOLDER, find: "", from: isMore ? "1870/s" : "" }}
                isMore={isMore}
                onShow={nothing}
                onHelp={nothing}
              >
                {null}
              </FolderTools>
            </div>
          </State>
        ))}
      </Part>
      <Part title="Folders">
        {Object.entries(SELECTIONS).map(([name, bar]) => (
          <State key={name} name={name}>
            <Rows bar={bar} />
          </State>
        ))}
        <State name="sorted by size, with an object open beside it">
          <Rows bar={SELECTIONS["nothing selected"]} sorted />
        </State>
      </Part>
      <Part title="Folders without rows, and changes that are not offered">
        <p class="empty">{STORAGE_SENTENCES.emptyFolder}</p>
        <p class="empty">{STORAGE_SENTENCES.noneFound("zzz")}</p>
        {PROBLEMS.map((status) => <p key={status} class="banner bad">{storageProblem(status, "folder")}</p>)}
        {[[false, false], [false, true], [true, false]].map(([write, remove]) => (
          <p key={`${write} ${remove}`} class="remark">{notOfferedSentence({ write, delete: remove })}</p>
        ))}
      </Part>
      <Part title="An object beside its folder">
        {[null, { problem: storageProblem(404, "object") }, FACTS].map((facts, n) => (
          <State key={n} name={facts === null ? "being read" : "problem" in facts ? "not there" : "read"}>
            <PanelOf facts={facts} />
          </State>
        ))}
      </Part>
      <Part title="Content of objects">
        {PREVIEWS.map((preview, n) => (
          <State key={n} name={"reason" in preview ? preview.reason : preview.kind}>
            <ObjectPreview address={OBJECT} name="1.tif" preview={preview} />
          </State>
        ))}
      </Part>
      <Part title="Versions">
        <VersionList address={OBJECT} page={{ versions: VERSIONS, is_truncated: true }} style={STYLE} />
        <VersionComparison changes={[{ value: "the same\n" }]} isCut={false} />
        <VersionComparison
          changes={[{ value: "before\n", removed: true }, { value: "after\n", added: true }, {
            value: "same\n".repeat(9),
          }]}
          isCut
        />
      </Part>
      <Part title="Tags">
        <StorageTags address={OBJECT} tags={[]} canChange />
        <StorageTags address={OBJECT} tags={[["reviewed", "yes"], ["shelf", "B 12"]]} canChange={false} />
      </Part>
      <Part title="Sharing">
        <StorageShare shared={SHARED} />
        {["https://store.example/", "http://192.168.1.9:9000/", "http://127.0.0.1:9000/"].map((store) => (
          <State key={store} name={store}>
            <div class="sharing">
              <ShareLink
                object={SHARED}
                link={{ url: `${store}letters/1.tif?X-Amz-Signature=0`, until: "2026-11-22T12:30:00Z" }}
                copied=""
                encoder={encode}
                style={STYLE}
                onCopy={nothing}
              />
            </div>
          </State>
        ))}
      </Part>
    </>
  );
}

interface RowsProps {
  readonly bar:
    & { readonly count: number }
    & Pick<ComponentProps<typeof SelectionBar>, "hidden" | "isMore" | "whole" | "onWhole" | "isOutdated">;
  readonly sorted?: boolean;
}

function Rows({ bar: { count, ...bar }, sorted = false }: RowsProps) {
  const chosen = ROWS.slice(0, count);
  const isAllSelected = chosen.length === ROWS.length;
  return (
    <section class="objs">
      <SelectionBar
        {...bar}
        rows={ROWS}
        selected={chosen}
        isAllSelected={isAllSelected}
        onRefresh={nothing}
        onClear={nothing}
      >
        {chosen.length > 0 && (
          <SelectionActions
            folder={FOLDER}
            rows={chosen}
            offered={{ write: true, delete: true }}
            onStart={nothing}
          />
        )}
      </SelectionBar>
      <FolderTable
        folder={FOLDER}
        rows={ROWS}
        span={null}
        body={{ current: null }}
        order={sorted ? { by: "size", isDescending: true } : FIRST_ORDER}
        selected={new Set(chosen.map(({ key }) => key))}
        isAllSelected={isAllSelected}
        opened={sorted ? ROWS[2].key : null}
        stop={0}
        isMore={bar.isMore}
        style={STYLE}
        events={{ onSelect: nothing, onSelectAll: nothing, onSort: nothing, onOpen: () => false }}
      />
    </section>
  );
}

function PanelOf({ facts }: Pick<ComponentProps<typeof ObjectPanel>, "facts">) {
  return <ObjectPanel address={OBJECT} facts={facts} style={STYLE} onClose={nothing} actions={null} />;
}

const ACCOUNT = "archive/curator";
const FOLDER = { account: ACCOUNT, bucket: "letters", prefix: "1870/" };
const OBJECT = { account: ACCOUNT, bucket: "letters", key: "1870/1.tif" };
const SHARED = { ...OBJECT, name: "1.tif", kind: "TIFF, 1.2 MB" };
const STYLE = { zone: "Europe/Stockholm", now: SAMPLE_NOW };
/** Statuses of the gateway with a sentence of their own. */
const PROBLEMS = [0, 403, 404, 429, 502, 503, 504];

/** A row of each kind of file, and names that are hard to read. */
const ROWS: readonly StorageRow[] = [
  { kind: "folder", key: "1870/may/", size: 0, changed: null },
  ...["1.tif", "a.txt", "b.json", "c.mp3", "d.mp4", "e.zip", "f", " odd \u202E<b>.txt", "long name ".repeat(12)].map((
    name,
    n,
  ) => ({ kind: "object", key: `1870/${name}`, size: 10 ** n, changed: "2026-11-20T07:12:00Z" } as const)),
];

const BAR = { count: 0, hidden: 0, isMore: false, whole: null, onWhole: null, isOutdated: false };
const SELECTIONS: Readonly<Record<string, RowsProps["bar"]>> = {
  "nothing selected": BAR,
  "two rows selected": { ...BAR, count: 2 },
  "three rows selected, one of which the search hides": { ...BAR, count: 3, hidden: 1 },
  "all rows selected, and more in the folder": { ...BAR, count: ROWS.length, isMore: true, onWhole: nothing },
  "the whole folder selected": { ...BAR, count: ROWS.length, isMore: true, whole: "1870" },
  "changed since it was read": { ...BAR, isOutdated: true },
};

const FACTS: ObjectFacts = {
  bytes: 1_234_567,
  type: "image/tiff",
  encoding: null,
  changed: "2026-11-20T07:12:00Z",
  etag: '"0f343b0931126a20f133d67c2b018a3b"',
  version: "97",
  metadata: [["shelf", "B 12"]],
  checksums: [["sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]],
};

const TEXT = { kind: "text", lines: ["one", "two"], isCut: false, viewer: null } as const;
const PREVIEWS: readonly ComponentProps<typeof ObjectPreview>["preview"][] = [
  { kind: "pdf" },
  { kind: "hidden image", format: "TIFF", size: { width: 2400, height: 3200 } },
  { kind: "hidden image", format: "JPEG 2000", size: null },
  { ...TEXT, encoding: "UTF-8" },
  { ...TEXT, encoding: "Windows-1252", isCut: true, viewer: "manifest" },
  {
    kind: "table",
    table: { rows: [["volume", "pages"], ["1", "20"]], columns: 2, delimiter: ";", isCut: true },
    encoding: "UTF-8",
  },
  { kind: "not text", type: "text/plain" },
  { kind: "not text", type: null },
  ...(["unknown", "empty", "encoded", "unreadable"] as const).map((reason) => ({ kind: "none", reason } as const)),
];

const VERSION = { IsLatest: false, IsDeleteMarker: false, LastModified: "2026-11-20T07:12:00Z", Size: 1200 };
const VERSIONS = [
  { ...VERSION, VersionId: "3", IsLatest: true },
  { ...VERSION, VersionId: "2", IsDeleteMarker: true, Size: null },
  { ...VERSION, VersionId: "1" },
];

function nothing(): void {}
