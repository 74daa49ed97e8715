import { batch, computed, signal } from "@preact/signals";
import { compareKeys } from "./key_names.ts";
import {
  FIRST_ORDER,
  type FolderColumn,
  type FolderOrder,
  type FolderPage,
  folderPageOf,
  isStoreOrder,
  justBefore,
  orderAfter,
  orderedRows,
  type StorageRow,
} from "./folder_listing.ts";
import type { FolderAddress } from "./storage_paths.ts";
import { storageProblem } from "./storage_sentences.ts";
import type { ObjectPage } from "@/lib/s3/listing.ts";
import { type ApiResponse, callStorageApi } from "./storage_api_client.ts";

/** Names of a page of the listing. */
const PAGE_ROWS = 1000;
/** Most rows that are held; browsers limit how tall a page may be, and memory is the reader's. */
const MAX_ROWS = 100_000;
/** Rows that are released at a time when there are more. */
export const RELEASED_ROWS = 50_000;

/** The selected rows by their keys, also those that are not shown, and the one from which a range would go. */
interface Selection {
  readonly rows: ReadonlyMap<string, StorageRow>;
  readonly anchor: string | null;
}

const NOTHING_SELECTED: Selection = { rows: new Map(), anchor: null };

/** The rows of a folder as far as they were read, their order and the selection among them. */
export class FolderStore {
  /** The prefix of the names that are searched, and the first name that is shown. */
  readonly find = signal("");
  readonly from = signal("");
  /** In the order of the store. */
  readonly rows = signal<readonly StorageRow[]>([]);
  /** Rows before them that were read and released. */
  readonly released = signal(0);
  readonly order = signal<FolderOrder>(FIRST_ORDER);
  readonly isReading = signal(false);
  /** Why nothing more could be read. */
  readonly problem = signal<string | null>(null);
  readonly selection = signal<Selection>(NOTHING_SELECTED);
  /** Whether the folder has changed since its rows were read. */
  readonly isOutdated = signal(false);
  readonly #next = signal<string | null>(null);
  /** Whether the first page held all of the folder: only then folders come first, so that no row moves later. */
  readonly #isWhole = signal(false);
  readonly shown = computed(() => orderedRows(this.rows.value, this.order.value, this.#isWhole.value));
  /** Whether all shown rows are among the selected ones, of which others may be. */
  readonly isAllSelected = computed(() => this.shown.value.every(({ key }) => this.selection.value.rows.has(key)));
  readonly selectedRows = computed(() => [...this.selection.value.rows.values()]);
  /** Number of selected rows outside the part of the folder that is shown. */
  readonly hidden = computed(() => this.selectedRows.value.filter(({ key }) => !this.#isInPart(key)).length);
  /** Whether the store has further rows. */
  readonly hasMore = computed(() => this.#next.value !== null);
  readonly #call: typeof callStorageApi;
  #reading = new AbortController();
  /** Whether rows beyond the first page were read. */
  #hasReadOn = false;

  constructor(readonly folder: FolderAddress, page: FolderPage, call = callStorageApi) {
    this.#call = call;
    this.find.value = folder.find ?? "";
    this.from.value = folder.from ?? "";
    this.#replace(page);
  }

  /** The folder and what is shown of it, for addresses. */
  get address(): FolderAddress {
    return { ...this.folder, find: this.find.value, from: this.from.value };
  }

  /** Reads the next page, where the rows are in the order of the store or the reader asked for it. */
  async readMore(): Promise<void> {
    const token = this.#next.peek();
    if (token === null || this.isReading.peek()) return;
    const page = await this.#read({ continuation_token: token });
    if (page === null) return;
    this.#hasReadOn = true;
    batch(() => {
      const rows = [...this.rows.peek(), ...page.rows];
      const surplus = rows.length > MAX_ROWS ? RELEASED_ROWS : 0;
      this.released.value += surplus;
      this.rows.value = surplus > 0 ? rows.slice(surplus) : rows;
      this.#next.value = page.next;
    });
  }

  /** Reads further rows as the reader comes near the end; other orders would move rows under the pointer. */
  async readAhead(): Promise<void> {
    if (isStoreOrder(this.order.peek()) && this.problem.peek() === null) await this.readMore();
  }

  /** Shows names of the folder with a prefix, or from a name on. The selection stays. */
  async show(
    { find = this.find.peek(), from = "" }: { readonly find?: string; readonly from?: string },
  ): Promise<void> {
    batch(() => {
      this.find.value = find;
      this.from.value = from;
    });
    await this.#readFirst();
  }

  /** The folder has changed: it is read again, unless that would take rows away from a reader who has read on. */
  async changed(): Promise<void> {
    if (this.#hasReadOn) this.isOutdated.value = true;
    else await this.refresh();
  }

  /** Reads the folder again from its start. Rows that still exist, or were not read again, stay selected. */
  async refresh(): Promise<void> {
    if (!await this.#readFirst()) return;
    const rows = this.rows.peek();
    const there = new Map(rows.map((row) => [row.key, row]));
    const last = this.#next.peek() === null ? undefined : rows.at(-1);
    const isUnread = (key: string) => !this.#isInPart(key) || (last !== undefined && compareKeys(key, last.key) > 0);
    const selection = this.selection.peek();
    const kept = [...selection.rows].flatMap(([key, row]): [string, StorageRow][] => {
      const found = there.get(key) ?? (isUnread(key) ? row : undefined);
      return found ? [[key, found]] : [];
    });
    if (kept.length < selection.rows.size) this.selection.value = { ...selection, rows: new Map(kept) };
  }

  sort(column: FolderColumn): void {
    this.order.value = orderAfter(this.order.peek(), column);
  }

  /** @param isRange from the row that was selected last to this one */
  select(key: string, isRange: boolean): void {
    const { rows, anchor } = this.selection.peek();
    const shown = this.shown.peek();
    const indexOf = (sought: string | null) => shown.findIndex((row) => row.key === sought);
    const to = indexOf(key);
    if (to < 0) return;
    const from = isRange ? indexOf(anchor) : -1;
    const range = from < 0 ? [shown[to]] : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
    const next = new Map(rows);
    if (isRange || !next.delete(key)) { for (const row of range) next.set(row.key, row); }
    this.selection.value = { rows: next, anchor: from < 0 ? key : anchor };
  }

  /** Selects all that is shown, beside what is selected already; where all of it is, none of it. */
  selectAll(): void {
    const { rows, anchor } = this.selection.peek();
    const isAll = this.isAllSelected.peek();
    const next = new Map(rows);
    for (const row of this.shown.peek()) {
      if (isAll) next.delete(row.key);
      else next.set(row.key, row);
    }
    this.selection.value = { rows: next, anchor };
  }

  clearSelection(): void {
    this.selection.value = NOTHING_SELECTED;
  }

  /** Whether a key of the folder matches the search, and does not come before the first name that is shown. */
  #isInPart(key: string): boolean {
    return key.startsWith(this.folder.prefix + this.find.value) && compareKeys(key, this.from.value) >= 0;
  }

  /** @returns whether it could be read */
  async #readFirst(): Promise<boolean> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.isReading.value = false;
    const from = this.from.peek();
    const page = await this.#read({ start_after: from === "" ? undefined : justBefore(from) });
    if (page !== null) this.#replace(page);
    return page !== null;
  }

  #replace(page: FolderPage): void {
    this.#hasReadOn = false;
    batch(() => {
      this.isOutdated.value = false;
      this.rows.value = page.rows;
      this.released.value = 0;
      this.#next.value = page.next;
      this.#isWhole.value = page.next === null;
    });
  }

  /** A page of the listing; null where it could not be read, or another part of the folder is read instead. */
  async #read(where: Readonly<Record<string, string | undefined>>): Promise<FolderPage | null> {
    const { folder: { account, bucket, prefix } } = this;
    const { signal } = this.#reading;
    const parameters = { bucket, prefix: prefix + this.find.peek(), delimiter: "/", max_keys: PAGE_ROWS, ...where };
    batch(() => {
      this.isReading.value = true;
      this.problem.value = null;
    });
    let answer: ApiResponse<ObjectPage>;
    try {
      answer = await this.#call("/buckets/:bucket/objects", account, parameters, { signal });
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
    if (signal.aborted) return null;
    const page = answer.status === 200 ? folderPageOf(answer.json, prefix) : null;
    batch(() => {
      this.isReading.value = false;
      if (page === null) this.problem.value = storageProblem(answer.status, "folder");
    });
    return page;
  }
}
