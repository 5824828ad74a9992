import { useMemo } from 'preact/hooks'
import { encode } from 'uqr'

const QUIET = 4

/** One path for all dark modules: a run of each row is one rectangle. */
function darkPath(data: readonly (readonly boolean[])[]): string {
  const parts: string[] = []
  for (const [y, row] of data.entries()) {
    let from = -1
    for (let x = 0; x <= row.length; x += 1) {
      if (row[x] === true && from < 0) from = x
      if (row[x] !== true && from >= 0) {
        parts.push(`M${from} ${y}h${x - from}v1h-${x - from}z`)
        from = -1
      }
    }
  }
  return parts.join('')
}

/** A QR code, black on white in every theme, with the four modules of quiet zone that readers need. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => {
    const code = encode(text, { ecc: 'M', border: QUIET })
    return { path: darkPath(code.data), size: code.size }
  }, [text])
  return (
    <div class="plate">
      <svg class="qr" viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges" role="img" aria-label={label}>
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
    </div>
  )
}
