import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "@/components/icon.tsx";
import { keepFocus } from "@/lib/pages/browser/focus_client.ts";
import {
  beginsFolded,
  leaveRoom,
  rememberFolded,
  SMALL_SCREEN,
  uploadSection,
  wasNavigatedHere,
} from "@/lib/pages/storage/dock_client.ts";
import { lazyComponent, loadCode } from "@/lib/pages/browser/load_code_client.tsx";
import type { TaskList } from "@/lib/pages/storage/task_list_client.ts";
import { TASK_LABELS, tasksLine } from "@/lib/pages/storage/task_sentences.ts";
import { UPLOAD_LABELS } from "@/lib/pages/uploads/upload_sentences.ts";

/** Loads the dialogs before changes: most visits change nothing. @throws OutdatedPage, TypeError where they cannot be loaded */
export const loadDialogs = () => loadCode(() => import("./wanted_dialog.tsx"));

/** Most visits have no task. */
const TaskRows = lazyComponent(async () => (await import("./task_rows.tsx")).TaskRows);

type SectionName = "uploads" | "tasks";

/** A part of the dock that has something to show. */
interface Section {
  readonly name: SectionName;
  readonly title: string;
  /** How far it is. */
  readonly line: string;
  readonly body: ComponentChildren;
}

/** The uploads and the tasks of a page at the edge of the window; nothing where there are none. */
export function Dock({ list }: { readonly list: TaskList | null }) {
  const uploads = uploadSection.value;
  const uploadLine = uploads?.line() ?? "";
  const tasks = list?.tasks.value ?? [];
  const sections: Section[] = [];
  if (uploads && uploadLine !== "") {
    sections.push({ name: "uploads", title: UPLOAD_LABELS.uploads, line: uploadLine, body: uploads.view() });
  }
  if (list && tasks.length > 0) {
    const body = <TaskRows list={list} />;
    sections.push({
      name: "tasks",
      title: TASK_LABELS.tasks,
      line: tasksLine(tasks.map(({ state }) => state.value)),
      body,
    });
  }
  const isEmpty = sections.length === 0;
  // The button that empties the dock takes it away. The server has no list.
  const hadFocus = isEmpty && list !== null && Boolean(document.activeElement?.closest("[data-dock]"));
  useLayoutEffect(() => {
    if (hadFocus) document.getElementById("main")?.focus({ preventScroll: true });
  });
  if (isEmpty) return null;
  return (
    <OpenDock
      sections={sections}
      tasks={tasks.length}
      isOver={uploadLine === "" && tasks.every(({ state }) => state.value.end !== null)}
      needsReader={uploads?.needsReader() ?? false}
    />
  );
}

interface OpenDockProps {
  /** At least one. */
  readonly sections: readonly Section[];
  readonly tasks: number;
  /** Whether nothing of it is under way. */
  readonly isOver: boolean;
  readonly needsReader: boolean;
}

function OpenDock({ sections, tasks, isOver, needsReader }: OpenDockProps) {
  const dock = useRef<HTMLElement>(null);
  // Tasks of earlier pages are not to cover this one, unless the end of one opened it.
  const isFolded = useSignal(useMemo(() => {
    const wasNavigated = wasNavigatedHere();
    return beginsFolded() || (isOver && !wasNavigated);
  }, []));
  const wasOver = useRef(isOver);
  const chosen = useSignal<SectionName>("uploads");
  useEffect(() => {
    const { current } = dock;
    if (!current) return;
    const stopRoom = leaveRoom(current);
    const stopFocus = keepFocus(current, "li", () => document.getElementById("dock-title"));
    return () => {
      stopRoom();
      stopFocus();
    };
  }, []);

  const hasUploads = sections[0].name === "uploads";
  const counted = useRef({ tasks: 0, hasUploads: false });
  useLayoutEffect(() => {
    const before = counted.current;
    counted.current = { tasks, hasUploads };
    if (wasOver.current && !isOver) {
      wasOver.current = false;
      isFolded.value = beginsFolded();
    }
    const hasNew = tasks > before.tasks || (hasUploads && !before.hasUploads);
    if (!hasNew) return;
    chosen.value = tasks > before.tasks ? "tasks" : "uploads";
    if (matchMedia(SMALL_SCREEN).matches) isFolded.value = true;
  }, [tasks, hasUploads, isOver]);
  // A question that is out of sight would hold the uploads up unnoticed.
  useLayoutEffect(() => {
    if (!needsReader) return;
    chosen.value = "uploads";
    isFolded.value = false;
  }, [needsReader]);

  const shown = sections.find(({ name }) => name === chosen.value) ?? sections[0];
  const isTabbed = sections.length > 1;
  const label = isFolded.value ? TASK_LABELS.unfold : TASK_LABELS.fold;
  return (
    <section class="storage-dock" data-dock aria-labelledby="dock-title" ref={dock}>
      <header>
        <h2 id="dock-title" tabIndex={-1}>{sections.map(({ line }) => line).join(" · ")}</h2>
        <button
          type="button"
          class="btn square"
          aria-expanded={!isFolded.value}
          aria-label={label}
          title={label}
          onClick={() => rememberFolded(isFolded.value = !isFolded.peek())}
        >
          <Icon name={isFolded.value ? "up" : "down"} />
        </button>
      </header>
      {!isFolded.value && isTabbed && (
        <Tabs
          sections={sections}
          shown={shown.name}
          onChoose={(name) => chosen.value = name}
        />
      )}
      {!isFolded.value && (
        <section
          key={shown.name}
          id={`dock-${shown.name}`}
          class={shown.name}
          role={isTabbed ? "tabpanel" : undefined}
          aria-label={shown.title}
          tabIndex={0}
        >
          {shown.body}
        </section>
      )}
    </section>
  );
}

interface TabsProps {
  readonly sections: readonly Section[];
  readonly shown: SectionName;
  onChoose(name: SectionName): void;
}

/** One stop of the Tab key; arrows go from tab to tab, and choose it. */
function Tabs({ sections, shown, onChoose }: TabsProps) {
  const tabs = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    const other = sections.findIndex(({ name }) => name !== shown);
    onChoose(sections[other].name);
    tabs.current?.querySelectorAll<HTMLElement>("[role=tab]")[other].focus();
  };
  return (
    <div class="tabs" role="tablist" aria-labelledby="dock-title" ref={tabs} onKeyDown={onKeyDown}>
      {sections.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === shown}
          aria-controls={name === shown ? `dock-${name}` : undefined}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
