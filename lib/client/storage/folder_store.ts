import { batch, computed, signal } from "@preact/signals";

import {
  FIRST_ORDER,
  type FolderColumn,
  type FolderOrder,
  isStoreOrder,
  orderAfter,
  orderedRows,
} from "@/lib/presentation/storage/folder_order.ts";
import { compareKeys } from "@/lib/presentation/storage/upload_names.ts";
import { type FolderPage, justBefore, readFolderPage, type StorageRow } from "@/lib/presentation/storage/listing.ts";
import {
  allToggled,
  extended,
  NOTHING_SELECTED,
  type Selection,
  toggled,
  without,
} from "@/lib/presentation/storage/selection.ts";
import type { FolderAddress } from "@/lib/presentation/storage/storage_paths.ts";
import { storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { callDoor, type DoorAnswer } from "./door.ts";

/** Names of a page of the listing. */
const PAGE_ROWS = 1000;
/** Most rows that are held; browsers limit how tall a page may be, and memory is the reader's. */
const MAX_ROWS = 100_000;
/** Rows that are released at a time when there are more. */
export const RELEASED_ROWS = 50_000;

/** Calls an operation of the gateway, as {@link callDoor}. */
type Call = typeof callDoor;

/** What a folder's page was rendered with. */
interface FolderStart {
  readonly folder: FolderAddress;
  readonly page: FolderPage;
}

/** The rows of a folder as far as they were read, their order and the selection among them. */
export class FolderStore {
  readonly folder: FolderAddress;
  /** What the names begin with, and the first one that is shown. */
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
  readonly selectedRows = computed(() => {
    const { keys } = this.selection.value;
    return keys.size === 0 ? [] : this.rows.value.filter(({ key }) => keys.has(key));
  });
  /** Whether the store has further rows. */
  readonly hasMore = computed(() => this.#next.value !== null);
  readonly #call: Call;
  #reading = new AbortController();
  /** Whether rows beyond the first page were read. */
  #hasReadOn = false;

  constructor({ folder, page }: FolderStart, call: Call = callDoor) {
    this.folder = folder;
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

  /** Shows another part of the folder: names with a beginning, from a name on. */
  async show(
    { find = this.find.peek(), from = "" }: { readonly find?: string; readonly from?: string },
  ): Promise<void> {
    batch(() => {
      this.find.value = find;
      this.from.value = from;
      this.selection.value = NOTHING_SELECTED;
    });
    await this.#readFirst();
  }

  /** The folder has changed: it is read again, unless that would take rows away from a reader who has read on. */
  async changed(): Promise<void> {
    if (this.#hasReadOn) this.isOutdated.value = true;
    else await this.refresh();
  }

  /** Reads the folder again from its beginning; what is still there, or may be further on, stays selected. */
  async refresh(): Promise<void> {
    if (!await this.#readFirst()) return;
    const rows = this.rows.peek();
    const there = new Set(rows.map(({ key }) => key));
    const last = this.#next.peek() === null ? undefined : rows.at(-1);
    const mayBeThere = (key: string) => there.has(key) || (last !== undefined && compareKeys(key, last.key) > 0);
    this.selection.value = without(this.selection.peek(), mayBeThere);
  }

  sort(column: FolderColumn): void {
    this.order.value = orderAfter(this.order.peek(), column);
  }

  /** @param isRange from the row that was selected last to this one */
  select(key: string, isRange: boolean): void {
    const selection = this.selection.peek();
    this.selection.value = isRange ? extended(selection, key, this.#shownKeys()) : toggled(selection, key);
  }

  selectAll(): void {
    this.selection.value = allToggled(this.selection.peek(), this.#shownKeys());
  }

  clearSelection(): void {
    this.selection.value = NOTHING_SELECTED;
  }

  #shownKeys(): string[] {
    return this.shown.peek().map(({ key }) => key);
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
    let answer: DoorAnswer;
    try {
      answer = await this.#call("/buckets/:bucket/objects", account, parameters, { signal });
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
    if (signal.aborted) return null;
    const page = answer.status === 200 ? readFolderPage(answer.json, prefix) : null;
    batch(() => {
      this.isReading.value = false;
      if (page === null) this.problem.value = storageProblem(answer.status, "folder");
    });
    return page;
  }
}
