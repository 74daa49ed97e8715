import type { encode } from "uqr";
import { formatMoment, type MomentStyle } from "@/lib/pages/moments.ts";
import { plainName } from "@/lib/pages/storage/key_names.ts";
import { awsCommand, curlCommand, reachOf } from "@/lib/pages/storage/sharing.ts";
import { SHARE_LABELS, SHARE_SENTENCES } from "@/lib/pages/storage/object_sentences.ts";

/** A link that opens an object without a login. */
export interface SharedLink {
  readonly url: string;
  /** When it expires, ISO 8601. */
  readonly until: string;
}

/** The object, and what is said of it. */
export interface ShareableObject {
  readonly account: string;
  readonly bucket: string;
  readonly key: string;
  /** The name of the object in its folder. */
  readonly name: string;
  /** Type and size as people read them. */
  readonly kind: string;
}

interface ShareLinkProps {
  readonly object: ShareableObject;
  readonly link: SharedLink;
  /** The result of the last copy; "" before the first one. */
  readonly copied: string;
  /** Draws the link as a QR code; null until it is loaded. */
  readonly encoder: typeof encode | null;
  readonly style: MomentStyle;
  readonly onCopy: (text: string) => void;
}

/** A link to an object: the link itself, what its receiver gets, how far it reaches, and other forms of it. */
export function ShareLink({ object, link, copied, encoder, style, onCopy }: ShareLinkProps) {
  const { bucket, key, name, kind } = object;
  const { url, until } = link;
  const reach = reachOf(url);
  const aws = awsCommand({ bucket, key, url });
  return (
    <>
      <label class="field">
        <span class="sr">{SHARE_LABELS.link}</span>
        <input class="vid" readonly value={url} onFocus={({ currentTarget }) => currentTarget.select()} />
        <button type="button" class="btn small" aria-label={SHARE_LABELS.copyLink} onClick={() => onCopy(url)}>
          {SHARE_LABELS.copy}
        </button>
      </label>
      <p role="status">
        {SHARE_SENTENCES.receiver(plainName(name), kind, formatMoment(until, style))} {SHARE_SENTENCES.newest} {copied}
      </p>
      {reach !== "anywhere" && (
        <p class="banner warn">{reach === "machine" ? SHARE_SENTENCES.machine : SHARE_SENTENCES.network}</p>
      )}
      <p class="btns">
        <button type="button" class="btn small" onClick={() => onCopy(curlCommand({ bucket, key, url }))}>
          {SHARE_LABELS.copyCurl}
        </button>
        {aws !== null && (
          <button type="button" class="btn small" onClick={() => onCopy(aws)}>{SHARE_LABELS.copyAws}</button>
        )}
      </p>
      {encoder && (
        <QrCode encoder={encoder} text={url} label={SHARE_LABELS.qrCode} fallback={SHARE_SENTENCES.tooLongForQr} />
      )}
    </>
  );
}

/** Modules of white around the code, which readers need. */
const BORDER = 4;

interface QrCodeProps {
  /** The function of the library, which is loaded late. */
  readonly encoder: typeof encode;
  readonly text: string;
  readonly label: string;
  /** Shown for a text that no code can hold. */
  readonly fallback: string;
}

/** A text as a QR code, black on white in either theme. */
function QrCode({ encoder, text, label, fallback }: QrCodeProps) {
  const code = codeOf(encoder, text);
  if (code === null) return <p class="remark">{fallback}</p>;
  const path = code.data.flatMap((row, y) => row.map((isDark, x) => isDark ? `M${x} ${y}h1v1h-1z` : "")).join("");
  return (
    <svg class="qr" viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={label}>
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

function codeOf(encoder: typeof encode, text: string) {
  try {
    return encoder(text, { ecc: "L", border: BORDER });
  } catch {
    return null;
  }
}
