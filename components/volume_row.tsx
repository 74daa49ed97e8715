import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { Tone } from "@/lib/presentation/campaign_state.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { formatCount, formatQuality } from "@/lib/presentation/locale/figures.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { runLogPath, viewerPath } from "@/lib/presentation/page_paths.ts";
import { isLogLive } from "@/lib/presentation/problems.ts";
import { volumeChip, volumeManifest, volumeSentence } from "@/lib/presentation/volume_words.ts";
import { Chip } from "./chip.tsx";
import { Icon } from "./icon.tsx";
import { Meter } from "./meter.tsx";
import { RawWords } from "./raw_words.tsx";

interface VolumeRowProps {
  readonly volume: VolumeView;
  /** The one that the volume is of. */
  readonly campaign: NamedCampaign;
  /** Its place in the table, from 2: the head has the first. */
  readonly row: number;
  readonly hasQuality: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** One volume: its name, its state, how far it is, what can be said about it, its source and its log. */
export function VolumeRow({ volume, campaign, row, hasQuality, now }: VolumeRowProps) {
  const { progress } = volume;
  const { text, raw } = volumeSentence(volume, now);
  return (
    <tr role="row" aria-rowindex={row}>
      <th role="rowheader" scope="row" class="id">
        <VolumeName volume={volume} campaign={campaign} />
      </th>
      <td role="cell" class="state">
        <Chip {...volumeChip(volume)} />
      </td>
      <td role="cell" class="pages">
        <div class="fraction">
          <Meter
            parts={[
              { count: progress?.done ?? 0, tone: DONE_TONES[volume.state] },
              { count: progress?.failed ?? 0, tone: "warn" },
            ]}
            total={progress?.total ?? 0}
          />
          <span>
            {progress ? CARD.pagesOf(formatCount(progress.done), knownTotal(volume)) : "–"}
          </span>
        </div>
      </td>
      {hasQuality && (
        <td role="cell" class="quality">
          {progress?.quality
            ? (
              <>
                <span class="narrow">{CARD.quality}</span> {formatQuality(progress.quality.mean)}
              </>
            )
            : <span class="wide">–</span>}
        </td>
      )}
      <td role="cell" class="say sub" title={raw ?? undefined}>
        {text}
        <RawWords text={raw} />
      </td>
      <td role="cell" class="go">
        <VolumeFiles volume={volume} campaign={campaign} />
      </td>
    </tr>
  );
}

/** Before its manifest is read a volume has no pages; one that failed then never has any. */
function knownTotal({ state, progress }: VolumeView): string {
  return progress && (progress.total > 0 || state === "done") ? formatCount(progress.total) : "–";
}

/** A volume's name, which opens its pages in the manifest viewer. */
function VolumeName({ volume, campaign }: Pick<VolumeRowProps, "volume" | "campaign">) {
  const manifest = volumeManifest(volume);
  return manifest === null
    ? <span class="vid" title={volume.forbidden ? undefined : CARD.noPages}>{volume.id}</span>
    : <a class="vid" href={viewerPath(manifest, null, campaign)}>{volume.id}</a>;
}

/** The source manifest, where it has one that a browser can open, and the run log, live while it may be written. */
function VolumeFiles({ volume, campaign }: Pick<VolumeRowProps, "volume" | "campaign">) {
  const { id, sourceUrl, state, logUrl, manifestUrl } = volume;
  const hasNoLog = state === "pending" && !volume.final;
  const log = hasNoLog ? CARD.noLogYetOf(id) : CARD.logOf(id);
  return (
    <>
      {sourceUrl === null
        ? (
          <span class="file none" role="img" aria-label={CARD.noManifestOf(id)} title={CARD.noManifestOf(id)}>
            <Icon name="manifest" />
          </span>
        )
        : (
          <a class="file" href={sourceUrl} rel="noreferrer" aria-label={CARD.manifestOf(id)} title={CARD.manifest}>
            <Icon name="manifest" />
          </a>
        )}
      <a
        class="file"
        href={runLogPath({ logUrl, manifestUrl, live: isLogLive(state) }, campaign)}
        aria-label={log}
        title={hasNoLog ? log : CARD.runLog}
      >
        <Icon name="log" />
      </a>
    </>
  );
}

const DONE_TONES: Readonly<Record<VolumeView["state"], Tone>> = {
  pending: "idle",
  active: "run",
  done: "done",
  failed: "idle",
  unknown: "idle",
};
