import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { FolderTable, type FolderTableEvents } from "@/components/storage/folder_table.tsx";
import { ObjectPanel } from "@/components/storage/object_panel.tsx";
import { SelectionBar } from "@/components/storage/selection_bar.tsx";
import { FolderShortcuts } from "@/components/storage/folder_shortcuts.tsx";
import { FolderTools, UploadButton } from "@/components/storage/folder_tools.tsx";
import { ChangeActions, NewFolder, SelectionActions } from "@/components/storage/selection_actions.tsx";
import { isTyping } from "@/lib/pages/browser/focus_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { navigate } from "@/lib/pages/storage/dock_client.ts";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import {
  folderChanged,
  notOfferedSentence,
  type OfferedChanges,
  offeredChanges,
  onFolderChanged,
} from "@/lib/pages/storage/folder_changes_client.ts";
import { FolderStore, RELEASED_ROWS } from "@/lib/pages/storage/folder_store_client.ts";
import { tasksOf } from "@/lib/pages/storage/page_tasks_client.ts";
import { uncoveredTop, useRowSpan } from "@/lib/pages/storage/row_span_client.ts";
import type { ShownTask } from "@/lib/pages/storage/task_list_client.ts";
import { pathAfter } from "@/lib/pages/storage/after_change.ts";
import { folderOf, nameIn, plainName } from "@/lib/pages/storage/key_names.ts";
import { type FolderPage, isStoreOrder, type StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { type ObjectFacts, readObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import { type FolderAddress, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";

interface StorageFolderProps {
  readonly folder: FolderAddress;
  readonly page: FolderPage;
  /** The key of the object that the address opens; null: none. */
  readonly opened: string | null;
  /** The changes of the bucket that are offered: all but those that the store is known to forbid. */
  readonly found: OfferedChanges;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** Rows from the end of what was read at which the next page is read. */
const AHEAD_ROWS = 400;
/** ms after the last scrolling at which the first row on the screen stands in the address. */
const SCROLLED_MS = 400;
/** Rows that every reload brings by itself. */
const FIRST_PAGE_ROWS = 1000;
/** The least width at which an object opens beside its folder. */
const PANEL_WIDTH = "(min-width: 1081px)";

/** A folder: its rows as far as they were read, further ones as one scrolls, what is selected, and an object beside them. */
export default island(
  "storage_folder",
  function StorageFolder({ folder, page, opened, found, renderedAt }: StorageFolderProps) {
    const store = useMemo(() => new FolderStore(folder, page), []);
    const style = useMoments(renderedAt);
    const open = useSignal(opened);
    const facts = useSignal<ObjectFacts | { readonly problem: string } | null>(null);
    const stop = useSignal<number | null>(null);
    /** The row and the control in it that get the focus once they are drawn. */
    const wanted = useRef<{ readonly index: number; readonly control: string } | null>(null);
    const list = useRef<HTMLDivElement>(null);
    const isHelpOpen = useSignal(false);
    /** The selection that stands for the whole folder. */
    const whole = useSignal<ReadonlyMap<string, StorageRow> | null>(null);
    const rows = store.shown.value;
    const { body, span, bringIn } = useRowSpan(rows.length, (last) => {
      if (last > store.shown.peek().length - AHEAD_ROWS) void store.readAhead();
    });

    const writeAddress = (from = store.from.peek()) => {
      const path = folderPath({ ...store.address, from, open: open.peek() ?? undefined });
      if (path !== location.pathname + location.search) history.replaceState(null, "", path);
    };

    const focusHead = () => {
      const { current } = list;
      const control = current?.querySelector<HTMLElement>("thead input") ?? current?.querySelector("[name=find]");
      if (control instanceof HTMLElement) control.focus({ preventScroll: true });
    };

    const events: FolderTableEvents = {
      onSelect: (key, isRange) => store.select(key, isRange),
      onSelectAll: () => store.selectAll(),
      onSort: (column) => store.sort(column),
      onOpen(key) {
        if (!matchMedia(PANEL_WIDTH).matches) return false;
        open.value = key;
        writeAddress();
        return true;
      },
    };

    useEffect(() => {
      stop.value = 0;
      // An object that comes back under its name is not closed by the task that took it away before.
      let treated: ShownTask | null = null;
      const stopFollowing = onFolderChanged(folder, () => {
        void store.changed();
        const task = tasksOf(folder.account).lastEnded.peek();
        if (task === null || task === treated) return;
        treated = task;
        const state = task.state.peek();
        const path = pathAfter(folder, task.plan, state);
        if (path !== null) return navigate(path);
        const shown = { ...folder, key: open.peek() ?? "" };
        if (pathAfter(shown, task.plan, state) === null) return;
        const hasFocus = list.current?.parentElement?.querySelector("aside")?.contains(document.activeElement);
        open.value = null;
        writeAddress();
        // Its row goes as well.
        if (hasFocus) focusHead();
      });
      // A page that comes back from the browser's memory shows what was there when it was left.
      const comeBack = ({ persisted }: PageTransitionEvent) => persisted && folderChanged(folder);
      addEventListener("pageshow", comeBack);
      return () => {
        stopFollowing();
        removeEventListener("pageshow", comeBack);
      };
    }, []);

    // The facts in the panel are read whenever another object is opened.
    useEffect(() => {
      const key = open.value;
      facts.value = null;
      if (key === null) return;
      const stopReading = new AbortController();
      readFacts(folder, key, stopReading.signal).then((read) => facts.value = read, () => {});
      return () => stopReading.abort();
    }, [open.value]);

    // Rows that were released above the screen must not move what is on it.
    const released = useRef(0);
    useLayoutEffect(() => {
      const count = store.released.value;
      if (count > released.current) scrollBy({ top: -RELEASED_ROWS * (span?.height ?? 0), behavior: "instant" });
      released.current = count;
    }, [store.released.value]);

    useLayoutEffect(() => {
      const { current } = wanted;
      const control = current &&
        body.current?.querySelector<HTMLElement>(`[data-row="${current.index}"] ${current.control}`);
      if (!control) return;
      wanted.current = null;
      control.focus({ preventScroll: true });
    });

    useEffect(() => {
      let timer: ReturnType<typeof setTimeout>;
      const scrolled = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          const first = firstOnScreen(body.current);
          const row = isStoreOrder(store.order.peek()) ? store.shown.peek()[first] : undefined;
          const isFar = first >= FIRST_PAGE_ROWS || store.released.peek() > 0;
          history.scrollRestoration = isFar ? "manual" : "auto";
          writeAddress(isFar && row ? row.key : undefined);
        }, SCROLLED_MS);
      };
      addEventListener("scroll", scrolled, { passive: true });
      return () => {
        clearTimeout(timer);
        removeEventListener("scroll", scrolled);
      };
    }, []);

    const go = (index: number, control: string) => {
      const row = Math.min(rows.length - 1, Math.max(0, index));
      stop.value = row;
      wanted.current = { index: row, control };
      bringIn(row);
    };

    const onKeyDown = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (!(target instanceof HTMLElement) || isTyping(event)) return;
      const command = event.ctrlKey || event.metaKey;
      if (command && key.toLowerCase() === "a") {
        event.preventDefault();
        return store.selectAll();
      }
      if (command || event.altKey) return;
      if (key === "Escape") return open.peek() === null ? store.clearSelection() : close();
      const row = target.closest<HTMLElement>("[data-row]");
      if (!row) return;
      const index = Number(row.dataset.row);
      const control = target.matches("input") ? "input" : "a";
      const step = STEPS[key];
      if (step !== undefined) {
        event.preventDefault();
        const pageRows = Math.max(1, Math.floor(innerHeight / (span?.height ?? innerHeight)) - 3);
        const next = step === "first"
          ? 0
          : step === "last"
          ? rows.length - 1
          : index + (Math.abs(step) > 1 ? Math.sign(step) * pageRows : step);
        go(next, control);
        if (event.shiftKey && rows[next]) {
          if (store.selection.peek().anchor === null) store.select(rows[index].key, false);
          store.select(rows[next].key, true);
        }
      } else if (key === " " && control === "a") {
        event.preventDefault();
        store.select(rows[index].key, event.shiftKey);
      }
    };

    const close = () => {
      const index = rows.findIndex(({ key }) => key === open.peek());
      open.value = null;
      writeAddress();
      if (index >= 0) go(index, "a");
    };

    const show = (part: { find?: string; from?: string }) => {
      void store.show(part).then(() => scrollTo({ top: 0 }));
      writeAddress();
    };
    const selected = store.selection.value.rows;
    const isMore = store.hasMore.value;
    const find = store.find.value;
    const from = store.from.value;
    const offered = offeredChanges(folder.account, folder.bucket, found);
    const notOffered = notOfferedSentence(offered);
    const isWhole = whole.value === selected;
    // A whole folder is selected as a row of its parent, which a bucket and a search result do not have.
    const isAllSelected = store.isAllSelected.value;
    const canBeWhole = isMore && !isWhole && folder.prefix !== "" && find === "" && isAllSelected;
    const parent = isWhole ? folderOf(folder.prefix) : folder.prefix;
    const chosen = isWhole ? [folderRow(folder.prefix)] : store.selectedRows.value;
    return (
      <div class={open.value === null ? "store" : "store split"} onKeyDown={onKeyDown}>
        <div class="list" ref={list}>
          <FolderTools
            address={{ ...folder, find, from }}
            isMore={isMore}
            onShow={show}
            onHelp={() => isHelpOpen.value = true}
          >
            {offered.write && (
              <>
                <UploadButton choice="files" />
                <UploadButton choice="folder" />
                <NewFolder folder={folder} />
              </>
            )}
          </FolderTools>
          <FolderShortcuts
            isOpen={isHelpOpen}
            onFind={() => list.current?.querySelector<HTMLInputElement>("[name=find]")?.focus()}
          />
          {notOffered !== null && <p class="remark" role="status">{notOffered}</p>}
          {(rows.length > 0 || selected.size > 0) && (
            <section class="objs" aria-label={STORAGE_LABELS.contents}>
              <SelectionBar
                rows={rows}
                selected={store.selectedRows.value}
                hidden={store.hidden.value}
                isAllSelected={isAllSelected}
                isMore={isMore}
                whole={isWhole ? plainName(nameIn(parent, folder.prefix)) : null}
                onWhole={canBeWhole ? () => whole.value = selected : null}
                isOutdated={store.isOutdated.value}
                onRefresh={() => void store.refresh().then(() => go(0, "a"))}
                onClear={() => {
                  store.clearSelection();
                  // The button goes with the selection.
                  focusHead();
                }}
              >
                <SelectionActions
                  folder={{ ...folder, prefix: parent }}
                  rows={chosen}
                  offered={offered}
                  onStart={() => store.clearSelection()}
                />
              </SelectionBar>
              {rows.length > 0 && (
                <FolderTable
                  folder={folder}
                  rows={rows}
                  span={span}
                  body={body}
                  order={store.order.value}
                  selected={selected}
                  isAllSelected={isAllSelected}
                  opened={open.value}
                  stop={stop.value}
                  isMore={isMore}
                  style={style.value}
                  events={events}
                />
              )}
            </section>
          )}
          {rows.length === 0 && (
            <p class="empty">{find === "" ? STORAGE_SENTENCES.emptyFolder : STORAGE_SENTENCES.noneFound(find)}</p>
          )}
          <p class="more" role="status">
            {store.problem.value !== null && (
              <>
                <span class="bad">{store.problem.value}</span>{" "}
                <button type="button" class="btn" onClick={() => void store.readMore()}>
                  {STORAGE_LABELS.tryAgain}
                </button>
              </>
            )}
            {store.isReading.value && STORAGE_SENTENCES.reading}
            {!isStoreOrder(store.order.value) && isMore && store.problem.value === null && !store.isReading.value && (
              <>
                {STORAGE_SENTENCES.sortedPart}{" "}
                <button type="button" class="btn" onClick={() => void store.readMore()}>
                  {STORAGE_LABELS.nextRows}
                </button>
              </>
            )}
            {isMore && rows.length > 0 && (
              <a
                class="btn without-scripts"
                href={folderPath({ ...folder, find, from: `${rows[rows.length - 1].key}` })}
              >
                {STORAGE_LABELS.nextRows}
              </a>
            )}
          </p>
        </div>
        {open.value !== null && (
          <ObjectPanel
            address={{ account: folder.account, bucket: folder.bucket, key: open.value }}
            facts={facts.value}
            style={style.value}
            onClose={close}
            actions={
              <ChangeActions
                folder={folder}
                rows={[{ kind: "object", key: open.value, size: sizeOf(facts.value), changed: null }]}
                offered={offered}
                onStart={() => {}}
              />
            }
          />
        )}
      </div>
    );
  },
);

/** How far a key goes: by a row, by a screen, to an end. */
const STEPS: Readonly<Record<string, number | "first" | "last" | undefined>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: "first",
  End: "last",
};

async function readFacts(
  { account, bucket }: FolderAddress,
  key: string,
  signal: AbortSignal,
): Promise<ObjectFacts | { readonly problem: string }> {
  const parameters = { bucket, key };
  const { status, headers } = await callStorageApi("/buckets/:bucket/objects/:key", account, parameters, {
    method: "HEAD",
    signal,
  });
  return status === 200 ? readObjectFacts(headers) : { problem: storageProblem(status, "object") };
}

function sizeOf(facts: ObjectFacts | { readonly problem: string } | null): number {
  return facts !== null && "bytes" in facts ? facts.bytes : 0;
}

/** A folder as a row of the folder around it. */
function folderRow(prefix: string): StorageRow {
  return { kind: "folder", key: prefix, size: 0, changed: null };
}

/** The index of the first row that can be seen whole. */
function firstOnScreen(body: HTMLElement | null): number {
  const top = uncoveredTop(body);
  const rows = [...body?.querySelectorAll<HTMLElement>("[data-row]") ?? []];
  return Number(rows.find((row) => row.getBoundingClientRect().top >= top)?.dataset.row ?? 0);
}
