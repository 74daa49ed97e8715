import type { LogView } from "@/lib/client/log_view.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { LEVEL_FILTERS, type LevelFilter } from "@/lib/presentation/run_log/level_filter.ts";
import { hitsFigure, LOG_LABELS } from "@/lib/presentation/run_log/words.ts";
import { Icon } from "./icon.tsx";

interface LogToolsProps {
  readonly view: LogView;
  readonly counts: Readonly<Record<LevelFilter, number>>;
  /** Whether some stage is folded. */
  readonly isFolded: boolean;
}

/** What narrows a log and finds lines in it. */
export function LogTools({ view, counts, isFolded }: LogToolsProps) {
  const search = view.search.value;
  return (
    <search class="log-tools">
      <div class="log-find">
        <label class="log-field">
          <Icon name="search" />
          <span class="sr">{LOG_LABELS.search}</span>
          <input
            type="search"
            placeholder={LOG_LABELS.search}
            value={view.query.value}
            onInput={({ currentTarget }) => view.setQuery(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              view.goToHit(event.shiftKey ? -1 : 1);
            }}
          />
          <output role="status">{search && hitsFigure(search.lines, view.hit.value)}</output>
        </label>
        <button
          class="btn square"
          type="button"
          aria-label={LOG_LABELS.previousHit}
          title={LOG_LABELS.previousHit}
          disabled={!search?.lines.length}
          onClick={() => view.goToHit(-1)}
        >
          <Icon name="up" />
        </button>
        <button
          class="btn square"
          type="button"
          aria-label={LOG_LABELS.nextHit}
          title={LOG_LABELS.nextHit}
          disabled={!search?.lines.length}
          onClick={() => view.goToHit(1)}
        >
          <Icon name="down" />
        </button>
      </div>
      <fieldset class="segments">
        <legend class="sr">{LOG_LABELS.level}</legend>
        {LEVEL_FILTERS.filter((level) => level !== "debug" || counts.debug > 0).map((level) => (
          <label key={level}>
            <input
              type="radio"
              name="level"
              checked={level === view.filter.value}
              onChange={() => view.setFilter(level)}
            />
            {LOG_LABELS.levels[level]} <span class="count">{formatCount(counts[level])}</span>
          </label>
        ))}
      </fieldset>
      <label class="switch">
        <input
          type="checkbox"
          checked={view.sinceStart.value}
          onChange={({ currentTarget }) => view.sinceStart.value = currentTarget.checked}
        />
        {LOG_LABELS.sinceStart}
      </label>
      <button class="btn" type="button" onClick={() => view.setAllOpen(isFolded)}>
        {isFolded ? LOG_LABELS.unfoldAll : LOG_LABELS.foldAll}
      </button>
    </search>
  );
}
