import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { viewerPath } from "@/lib/presentation/page_paths.ts";
import type { RunPage } from "@/lib/presentation/run_manifest/run_manifest.ts";
import { QUALITY_STEPS, qualityStep } from "@/lib/presentation/run_manifest/run_summary.ts";
import { pageWords, QUALITY_STEP_WORDS } from "@/lib/presentation/run_manifest/words.ts";

interface PageGridProps {
  readonly pages: readonly RunPage[];
  readonly viewerUrl: string | null;
  /** The one that the reader comes from. */
  readonly campaign: NamedCampaign | null;
  /** The longest that a page took, seconds. */
  readonly maxSeconds: number | null;
}

/** The least height of a page's bar, of the highest one: a quick page is still seen. */
const LEAST_HEIGHT = 0.12;

/**
 * A bar for each page: as high as the page was slow, in the colour of its quality. The table of pages says the same in
 * words, so the grid is for the eye and the pointer. A page is one element: a volume may have thousands.
 */
export function PageGrid({ pages, viewerUrl, campaign, maxSeconds }: PageGridProps) {
  const steps = pages.map(qualityStep);
  return (
    <>
      <div class="page-grid" aria-hidden="true">
        {pages.map((page, place) => {
          const { name, seconds, canvas } = page;
          const part = maxSeconds && seconds !== null ? Math.max(LEAST_HEIGHT, seconds / maxSeconds) : LEAST_HEIGHT;
          const href = viewerUrl !== null && canvas !== null ? viewerPath(viewerUrl, canvas, campaign) : undefined;
          return (
            <a
              key={name}
              class={steps[place]}
              href={href}
              title={pageWords(page)}
              style={{ "--part": part }}
              tabIndex={-1}
            />
          );
        })}
      </div>
      <ul class="page-grid-key">
        {QUALITY_STEPS.filter((step) => steps.includes(step)).map((step) => (
          <li key={step} class={step}>
            {QUALITY_STEP_WORDS[step]}: {formatCount(steps.filter((other) => other === step).length)}
          </li>
        ))}
      </ul>
    </>
  );
}
