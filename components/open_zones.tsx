import type { ComponentProps } from "preact";

import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { CardProvenance } from "./card_provenance.tsx";
import { CardTimeline } from "./card_timeline.tsx";
import { CardTotals } from "./card_totals.tsx";
import { CardVolumes } from "./card_volumes.tsx";

interface BodyProps extends ComponentProps<typeof CardVolumes> {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly style: MomentStyle;
}

/** The second zone of an open card: totals, course and volumes. */
function Body(props: BodyProps) {
  const { job, detail, style } = props;
  return (
    <>
      <CardTotals job={job} detail={detail} />
      <CardTimeline job={job} detail={detail} style={style} />
      <CardVolumes {...props} />
    </>
  );
}

/** What only an open card shows. The list loads it when a reader comes near its cards: many visits open none. */
export const OPEN_ZONES = { Body, Provenance: CardProvenance };
