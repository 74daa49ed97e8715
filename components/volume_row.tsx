import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { Chip as ChipData, Tone } from "@/lib/presentation/campaign_state.ts";
import { formatCount, formatQuality } from "@/lib/presentation/figures.ts";
import { viewerPath } from "@/lib/presentation/page_paths.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { isLogLive } from "@/lib/presentation/problems.ts";
import { volumeChip, volumeLines, volumeManifest } from "@/lib/presentation/volume_words.ts";
import { Chip } from "./chip.tsx";
import { LogLink } from "./log_link.tsx";
import { Meter } from "./meter.tsx";

/** One volume: its name with what can be said about it, its source, how far it is, its state, its log. */
export function VolumeRow({ volume, hasQuality }: { volume: VolumeView; hasQuality: boolean }) {
  const { id, progress, sourceUrl, state } = volume;
  const chip = volumeChip(volume);
  return (
    <tr role="row">
      <td role="cell" class="id">
        <VolumeName volume={volume} />
        {volumeLines(volume).map(({ text, bad }) => <div key={text} class={bad ? "sub bad" : "sub"}>{text}</div>)}
      </td>
      <td role="cell" class="source">
        {sourceUrl === null
          ? <span class="sub" title={LABELS.singleImages}>–</span>
          : <a href={sourceUrl} rel="noreferrer" aria-label={LABELS.manifestOf(id)}>{LABELS.manifest}</a>}
      </td>
      <td role="cell" class="pages">
        <Meter
          done={progress?.done ?? 0}
          failed={progress?.failed ?? 0}
          total={progress?.total ?? 0}
          tone={meterTone(chip, state)}
        />
        <span class="sub fraction">
          {progress ? `${formatCount(progress.done)} / ${formatCount(progress.total)}` : "–"}
          {progress !== null && progress.failed > 0 && (
            <span class="lost">· {LABELS.failed(formatCount(progress.failed))}</span>
          )}
        </span>
      </td>
      {hasQuality && (
        <td role="cell" class="quality text-right whitespace-nowrap">
          {progress?.quality ? formatQuality(progress.quality.mean) : "–"}
        </td>
      )}
      <td role="cell" class="state">
        <Chip {...chip} />
      </td>
      <td role="cell" class="log">
        {state === "pending" ? <span class="sub">–</span> : (
          <LogLink
            logUrl={volume.logUrl}
            manifestUrl={volume.manifestUrl}
            live={isLogLive(state)}
            of={id}
          />
        )}
      </td>
    </tr>
  );
}

/** A volume's name, which opens its pages in the manifest viewer. */
function VolumeName({ volume }: { volume: VolumeView }) {
  const manifest = volumeManifest(volume);
  return manifest === null
    ? <span class="vid" title={SENTENCES.noVolumeManifest}>{volume.id}</span>
    : <a class="vid" href={viewerPath(manifest)}>{volume.id}</a>;
}

function meterTone(chip: ChipData, state: VolumeView["state"]): Tone {
  return state === "active" ? "run" : chip.tone === "bad" ? "bad" : "done";
}
