import { signal } from "@preact/signals";
import type { ComponentProps } from "preact";
import { InterruptedUploads, UnfinishedList } from "@/components/storage/left_uploads.tsx";
import { ChoiceNotices, UploadList, UploadNotices } from "@/components/storage/upload_list.tsx";
import { ChangeDialog } from "@/components/storage/change_dialog.tsx";
import { Dock } from "@/components/storage/dock.tsx";
import { TaskRows } from "@/components/storage/task_rows.tsx";
import { WantedDialog } from "@/components/storage/wanted_dialog.tsx";
import { uploadSection } from "@/lib/pages/storage/dock_client.ts";
import { TaskList } from "@/lib/pages/storage/task_list_client.ts";
import { UploadFault } from "@/lib/pages/uploads/upload_calls_client.ts";
import type { UploadItem, UploadState } from "@/lib/pages/uploads/upload_items_client.ts";
import type { StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { NEW_TASK, type TaskPlan, type TaskState } from "@/lib/pages/storage/task_record.ts";
import { HeldClock } from "@/tests/lib/pages/browser/held_clock.ts";
import { SAMPLE_NOW } from "@/tests/site/fake_campaigns.ts";
import { Part, State } from "./part.tsx";

/** Uploads, tasks and their dialogs. */
export function TransferParts() {
  return (
    <>
      <Part title="Uploads">
        {Object.entries(UPLOADS).map(([name, change]) => (
          <State key={name} name={name}>
            <section class="uploads">
              <UploadList store={uploadsOf(change)} bucket="letters" />
            </section>
          </State>
        ))}
      </Part>
      <Part title="The ways of bytes, and choices that could not be taken whole">
        {ROUTES.map((route) => (
          <State key={route} name={route}>
            <UploadNotices store={uploadsOf({ routes: { known: route } })} bucket="letters" />
          </State>
        ))}
        <ChoiceNotices chosen={{ files: [], handles: [], isCut: true, unreadable: 3 }} />
      </Part>
      <Part title="Interrupted and unfinished uploads">
        <InterruptedUploads
          store={{
            interrupted: signal([{ ...BATCH, handles: [Object.create(null)] }, { ...BATCH, prefix: "maps/" }]),
            continueInterrupted: () => Promise.resolve(),
            discardInterrupted: () => Promise.resolve(),
          }}
          folder={WANTED.folder}
          onChoose={nothing}
        />
        {UNFINISHED.map((list, n) => (
          <UnfinishedList
            key={n}
            uploads={{ list: signal(list), end: () => Promise.resolve() }}
            prefix=""
            onOpen={nothing}
          />
        ))}
      </Part>
      <Part title="Tasks">
        <section class="tasks state">
          <TaskRows list={TASKS} />
        </section>
      </Part>
      <Part title="Dock with uploads and tasks">
        <div class="frame">
          <Dock list={TASKS} />
        </div>
      </Part>
      <Part title="Dialogs before a change">
        <WantedDialog wanted={{ kind: "folder", ...WANTED }} onClose={nothing} />
        <WantedDialog wanted={{ kind: "rename", rows: ROWS.slice(0, 1), ...WANTED }} onClose={nothing} />
        <WantedDialog wanted={{ kind: "delete", rows: ROWS, ...WANTED }} onClose={nothing} />
        <WantedDialog
          wanted={{ kind: "move", rows: ROWS, targets: ["letters", "maps"], ...WANTED }}
          onClose={nothing}
        />
        <ChangeDialog
          title="A change that was not done"
          action="Do it"
          isDangerous
          problem={signal<string | null>("An object has that name.")}
          perform={() => Promise.resolve(null)}
          onDone={nothing}
          onClose={nothing}
        >
          <p>What it is about.</p>
        </ChangeDialog>
      </Part>
    </>
  );
}

const ACCOUNT = "archive/curator";
const ROWS: readonly StorageRow[] = [
  { kind: "folder", key: "1870/", size: 0, changed: null },
  ...["1.tif", "2.tif", "3.tif", "4.tif", "5.tif", "6.tif"].map((
    key,
  ) => ({ kind: "object", key, size: 1000, changed: null } as const)),
];
const WANTED = { folder: { account: ACCOUNT, bucket: "letters", prefix: "" }, onStart: nothing };
const BATCH = {
  bucket: "letters",
  prefix: "",
  startedAt: SAMPLE_NOW,
  files: 12,
  bytes: 48_000_000,
  handles: [],
};
const UNFINISHED = [
  null,
  "forbidden",
  "failed",
  [],
  [0, 1].map((n) => ({ key: `scans/${n}.tif`, uploadId: `u${n}`, begunAt: SAMPLE_NOW, bytes: n === 0 ? null : 5e6 })),
] as const;
const ROUTES = ["no rules", "blocked", "forbidden", "unreachable"] as const;

type Engine = ComponentProps<typeof UploadList>["store"]["engine"];
type Change = Partial<Engine> & { readonly items?: readonly UploadItem[] };

/** The uploads of a page in each of the states that concern all of them. */
const UPLOADS: Readonly<Record<string, Change>> = {
  "each state of a file": {
    items: ([
      ...["looking", "waiting", "sending", "finishing", "paused", "failed", "done", "skipped", "cancelled"],
    ] as const).map((state, n) => item(n, state as UploadState)),
  },
  "no connection to the server": { items: [item(0, "sending")], connection: { isAway: true } },
  "paused": { items: [item(0, "paused"), item(1, "waiting")], isPaused: true },
  "names are in use": { items: [item(0, "taken"), item(1, "taken")] },
  "stopped: the session has ended": { items: [item(0, "waiting")], halted: new UploadFault("session") },
  "stopped: the page is outdated": { items: [item(0, "waiting")], halted: new UploadFault("outdated") },
  "stopped: the store is full": { items: [item(0, "waiting")], halted: new UploadFault("full") },
  "two have failed": {
    items: [item(0, "failed"), { ...item(1, "failed"), fault: new UploadFault("too large") }, item(2, "done")],
  },
  "all are there": { items: [item(0, "done"), { ...item(1, "done"), wasThere: true }] },
};

function item(id: number, state: UploadState): UploadItem {
  const path = `scans/page ${id}, ${state}.tif`;
  const size = 10_000_000;
  return {
    id,
    path,
    file: new File([], path),
    size,
    modified: SAMPLE_NOW,
    batch: { prefix: "", answer: null, taken: new Set() },
    key: path,
    isFree: true,
    state,
    sent: state === "done" ? size : state === "waiting" || state === "looking" ? 0 : size * 0.4,
    fault: state === "failed" ? new UploadFault("forbidden") : null,
    wasThere: false,
    ifAbsent: true,
    earlier: null,
    upload: null,
    pending: [],
    flight: new Map(),
    restarts: 0,
    isRecorded: false,
    mayBeWritten: false,
    control: null,
  };
}

function uploadsOf({ items = [], ...change }: Change): ComponentProps<typeof UploadList>["store"] {
  const count = (state: UploadState) => items.filter((one) => one.state === state).length;
  const sum = (of: (one: UploadItem) => number) => items.reduce((all, one) => all + of(one), 0);
  const bytes = sum(({ size }) => size);
  const sentBytes = sum(({ sent }) => sent);
  return {
    version: signal(0),
    percent: bytes === 0 ? 100 : Math.floor(100 * sentBytes / bytes),
    sorted: () => [...items],
    choice: signal(null),
    allowing: signal("no"),
    allowDirect: () => Promise.resolve(),
    clear: nothing,
    engine: {
      list: { items: [...items], bytes, sentBytes, count },
      routes: { known: null },
      isBusy: count("waiting") + count("sending") > 0,
      isPaused: false,
      connection: { isAway: false },
      halted: null,
      answer: nothing,
      pause: nothing,
      resume: nothing,
      retryFailed: nothing,
      cancelAll: () => Promise.resolve(),
      pauseItem: nothing,
      resumeItem: nothing,
      cancelItem: () => Promise.resolve(),
      pace: { rate: () => 2_500_000 },
      ...change,
    },
  };
}

const PLANNED = { place: { bucket: "letters", prefix: "" }, name: "1870/", rows: 1, keys: [], prefixes: ["1870/"] };
const MOVE = { kind: "move", from: "", to: { bucket: "maps", prefix: "" }, isRename: false } as const;
const DONE = { how: "done" } as const;
const FAULTS = [{ key: "1870/2.tif", status: 403, message: "" }, { key: "1870/3.tif", status: 0, message: "gone" }];

/** A task of each kind, and each way in which one ends. */
const SHOWN_TASKS: readonly (readonly [plan: TaskPlan, state: Partial<TaskState>])[] = [
  [{ kind: "zip", ...PLANNED }, { done: 4, total: 10 }],
  [{ kind: "zip", ...PLANNED }, { done: 10, total: 10, bytes: 5e7, download: "/storage/api/x", end: DONE }],
  [{ kind: "delete", ...PLANNED, canUndo: true }, { done: 3, total: 3, startedAt: SAMPLE_NOW, end: DONE }],
  [{ kind: "delete", ...PLANNED, canUndo: false }, { done: 1, failed: 2, total: 3, faults: FAULTS, end: DONE }],
  [{ ...PLANNED, ...MOVE }, { done: 3, total: 8 }],
  [{ ...PLANNED, ...MOVE }, { done: 3, total: 8, isCanceling: true }],
  [{ ...PLANNED, ...MOVE }, { done: 3, total: 8, end: { how: "canceled" } }],
  [{ ...PLANNED, ...MOVE, kind: "copy" }, { done: 6, skipped: 1, renamed: 1, total: 8, end: DONE }],
  [{ kind: "undo", ...PLANNED }, { end: { how: "failed", status: 500, message: "no" } }],
  [{ kind: "undo", ...PLANNED }, { end: { how: "gone" } }],
];

const TASKS = sampleTasks();

function sampleTasks(): TaskList {
  const stored = SHOWN_TASKS.map(([plan, state], n) => ({
    id: String(n),
    createdAt: 0,
    plan,
    state: { ...NEW_TASK, taskId: "t", ...state },
  }));
  const list = new TaskList({
    account: ACCOUNT,
    call: () => new Promise(() => {}),
    storage: { getItem: () => JSON.stringify(stored), setItem: nothing },
    clock: new HeldClock(),
    onEnd: nothing,
  });
  list.restore();
  return list;
}

uploadSection.value = {
  line: () => "3 of 9 uploaded",
  needsReader: () => false,
  view: () => <UploadList store={uploadsOf(UPLOADS["each state of a file"])} bucket="letters" />,
};
// The dock asks it whether it begins folded.
Object.assign(globalThis, { matchMedia: () => ({ matches: false }) });

function nothing(): void {}
