import type { encode } from "uqr";

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
export function QrCode({ encoder, text, label, fallback }: QrCodeProps) {
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
