import { BOARD_LABELS, SEGMENT_WORDS, SORT_WORDS } from "@/lib/presentation/board_sentences.ts";
import { type CampaignFilter, SEGMENTS } from "@/lib/presentation/campaign_filter.ts";
import { SORTS } from "@/lib/presentation/campaign_order.ts";
import type { CampaignOverview } from "@/lib/presentation/campaign_overview.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { type ListAddress, REAPED_PAGE } from "@/lib/presentation/list_address.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";

interface BoardFilterProps {
  readonly address: ListAddress;
  readonly overview: CampaignOverview;
  readonly onChange: (address: ListAddress) => void;
}

/** Narrows the list by state, pipeline, namespace and text, and orders it: a form that works without scripts too. */
export function BoardFilter({ address, overview, onChange }: BoardFilterProps) {
  const { filter, sort } = address;
  const choose = (change: Partial<CampaignFilter>) => onChange({ ...address, filter: { ...filter, ...change } });
  return (
    <search>
      <form
        class="filters"
        method="get"
        action="/"
        aria-label={BOARD_LABELS.filter}
        onSubmit={(event) => event.preventDefault()}
      >
        <fieldset class="segments">
          <legend class="sr">{LABELS.filterByState}</legend>
          {SEGMENTS.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="state"
                value={name}
                checked={name === filter.segment}
                onChange={() => choose({ segment: name })}
              />
              {SEGMENT_WORDS[name]} <span class="count">{formatCount(overview.segments[name])}</span>
            </label>
          ))}
        </fieldset>
        <div class="choices">
          <Choice
            name="pipeline"
            label={BOARD_LABELS.pipeline}
            any={BOARD_LABELS.anyPipeline}
            options={overview.pipelines}
            chosen={filter.pipeline}
            onChoose={(pipeline) => choose({ pipeline })}
          />
          <Choice
            name="namespace"
            label={BOARD_LABELS.namespace}
            any={BOARD_LABELS.anyNamespace}
            options={overview.namespaces}
            chosen={filter.namespace}
            onChoose={(namespace) => choose({ namespace })}
          />
          <select
            name="sort"
            aria-label={BOARD_LABELS.order}
            value={sort}
            onChange={({ currentTarget }) => {
              const chosen = SORTS.find((name) => name === currentTarget.value);
              if (chosen) onChange({ ...address, sort: chosen });
            }}
          >
            {SORTS.map((name) => <option key={name} value={name}>{SORT_WORDS[name]}</option>)}
          </select>
        </div>
        <input
          type="search"
          name="q"
          autocomplete="off"
          aria-label={LABELS.filterByText}
          placeholder={LABELS.filterByText}
          value={filter.text}
          onInput={(event) => choose({ text: event.currentTarget.value })}
        />
        {address.reaped > REAPED_PAGE && <input type="hidden" name="reaped" value={address.reaped} />}
        <button class="btn without-scripts" type="submit">{BOARD_LABELS.apply}</button>
      </form>
    </search>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** What the choice of all is named. */
  readonly any: string;
  readonly options: readonly string[];
  /** "": all. */
  readonly chosen: string;
  readonly onChoose: (option: string) => void;
}

/** A choice of one option or all. Where there is nothing to choose from it is not there. */
function Choice({ name, label, any, options, chosen, onChoose }: ChoiceProps) {
  // An address may name an option that is gone.
  const all = chosen === "" || options.includes(chosen) ? options : [...options, chosen];
  if (all.length < 2) return null;
  return (
    <select
      name={name}
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{any}</option>
      {all.map((option) => <option key={option} value={option}>{option}</option>)}
    </select>
  );
}
