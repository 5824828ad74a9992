import { type Html, html } from '#shared/contracts/html.ts'

/** Text with `code` in backticks. Long names may be broken after an underscore. */
export function inline(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${breakable(part)}</code>` : part))}`
}

function breakable(name: string): readonly Html[] {
  return name.split(/(?<=_)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))
}

/** Id of a heading: its words in lower case with dashes. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

/** Headings of a text, in order. */
export function headingsOf(markdown: string): readonly string[] {
  return blocksOf(markdown).flatMap((block) => (block.startsWith('## ') ? [block.slice(3)] : []))
}

/** The part of Markdown that the document uses: `##` headings, paragraphs, tables and inline code. */
export function markdown(text: string): Html {
  return html`${blocksOf(text).map(block)}`
}

function blocksOf(text: string): readonly string[] {
  return text.split(/\n{2,}/).filter((part) => part !== '')
}

function block(text: string): Html {
  if (text.startsWith('## ')) return html`<h2 id="${slug(text)}">${text.slice(3)}</h2>\n`
  if (text.startsWith('|')) return table(text.split('\n'))
  return html`<p>${inline(text)}</p>\n`
}

function table([head = '', , ...rows]: readonly string[]): Html {
  const cells = (row: string) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => inline(cell.trim()))
  return html`<div class="wide" role="region" aria-label="Table" tabindex="0"><table>
<thead><tr>${cells(head).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>\n`
}
