import type { PageLayout, PlacedLine } from "@/embedded/archive/page_layout.ts";

/** A page as ALTO 4 (Library of Congress schema 4.4), in pixels; `quality` (0..1) becomes the page's `PC`. */
export function altoXml(layout: PageLayout, name: string, physicalPage: number, quality: number | null): string {
  const { width, height, lines } = layout;
  const left = Math.min(...lines.map((line) => line.x));
  const top = lines[0].y;
  const right = Math.max(...lines.map((line) => line.x + line.width));
  const bottom = lines[lines.length - 1].y + lines[lines.length - 1].height;
  const pc = quality === null ? "" : ` PC="${quality}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">
  <Description>
    <MeasurementUnit>pixel</MeasurementUnit>
    <sourceImageInformation><fileName>${escaped(name)}.png</fileName></sourceImageInformation>
  </Description>
  <Layout>
    <Page ID="page_${physicalPage}" PHYSICAL_IMG_NR="${physicalPage}" WIDTH="${width}" HEIGHT="${height}"${pc}>
      <PrintSpace HPOS="0" VPOS="0" WIDTH="${width}" HEIGHT="${height}">
        <TextBlock ID="block_1" HPOS="${left}" VPOS="${top}" WIDTH="${right - left}" HEIGHT="${bottom - top}">
${lines.map(textLine).join("\n")}
        </TextBlock>
      </PrintSpace>
    </Page>
  </Layout>
</alto>
`;
}

function textLine(line: PlacedLine, index: number): string {
  const words = line.words.map((word) =>
    `<String CONTENT="${escaped(word.text)}" ${box(word)} WC="${word.confidence.toFixed(2)}"/>`
  );
  return `          <TextLine ID="line_${index + 1}" ${box(line)}>${words.join("<SP/>")}</TextLine>`;
}

function box({ x, y, width, height }: { x: number; y: number; width: number; height: number }): string {
  return `HPOS="${x}" VPOS="${y}" WIDTH="${width}" HEIGHT="${height}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
