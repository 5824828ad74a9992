/**
 * Marks of coins and networks, drawn for this page in the colours people know them by: a ground and shapes on it. Shapes that begin with `!` are
 * filled, the others are lines.
 */
const MARKS: Readonly<Record<string, readonly [ground: string, shapes: string, ink?: string]>> = {
  USDT: [
    '#1a8f6a',
    '!M9 8.5h14v4h-5v2.4c3.6.2 6.2 1 6.2 2s-2.6 1.8-6.2 2V25h-4v-6.1c-3.6-.2-6.2-1-6.2-2s2.6-1.8 6.2-2v-2.4H9z',
  ],
  USDC: [
    '#2775ca',
    'M19.6 12.6c-.3-1.6-1.7-2.4-3.6-2.4-2.1 0-3.6 1-3.6 2.7 0 3.9 7.4 2.4 7.4 6.3 0 1.8-1.6 2.8-3.8 2.8s-3.6-1-3.8-2.7M16 8v2.2M16 22v2.2M11.6 6.4a10.6 10.6 0 0 0 0 19.2M20.4 6.4a10.6 10.6 0 0 1 0 19.2',
  ],
  BTC: [
    '#d97a06',
    'M12.4 9.2v13.6M10.6 9.2h6.8c4.3 0 4.3 6.6 0 6.6h-5M10.6 22.8H18c4.8 0 4.8-7 0-7M14.4 6.6v2.6M17.6 6.6v2.6M14.4 22.8v2.6M17.6 22.8v2.6',
  ],
  ETH: ['#5468c4', '!M16 4.5l7.2 11.8L16 20.6l-7.2-4.3zM16 22.4l7-4.2-7 9.3-7-9.3z'],
  LTC: ['#3a5f9e', 'M15.4 7.5 11.6 23.5h10M9.6 18.8l8.4-3.6'],
  SOL: ['#3d2a78', '!M11.2 8.6h13.2l-3.6 3.8H7.6zM7.6 14.1h13.2l3.6 3.8H11.2zM11.2 19.6h13.2l-3.6 3.8H7.6z', '#5ff0b8'],
  TRX: ['#d5132c', 'M7.4 8l15.4 2.9 3 3.4L14.9 26zM7.4 8l8.3 6.6L14.9 26M22.8 10.9l-7.1 3.7 10.1-.3'],
  BNB: [
    '#f0b90b',
    '!M16 12.7l3.3 3.3-3.3 3.3-3.3-3.3zM16 5.6l6.4 6.4-2.4 2.4-4-4-4 4L9.6 12zM16 26.4l-6.4-6.4 2.4-2.4 4 4 4-4 2.4 2.4zM7.9 13.6l2.4 2.4-2.4 2.4L5.5 16zM24.1 13.6l2.4 2.4-2.4 2.4-2.4-2.4z',
    '#1d1600',
  ],
  POL: ['#6c2bd9', 'M12 9.4l4.6 2.700v5.300L12 20.1l-4.6-2.700v-5.300zM20 11.9l4.6 2.700v5.300L20 22.6l-4.6-2.700'],
  DOGE: ['#a8892a', 'M12.4 9h4c9 0 9 14 0 14h-4zM9.6 16h7'],
  BASE: ['#0052ff', '!M16 7a9 9 0 1 1-8.9 10.4H18v-2.800H7.1A9 9 0 0 1 16 7z'],
  ARB: ['#2d4f7c', 'M9 23.5 15.6 8.5h.8L23 23.5M14.6 23.5l2-5', '#8fd0ff'],
}

/** A mark beside the name that it stands for, which it never replaces; two letters for what has none. */
export function CoinMark({ name, label = name }: { readonly name: string; readonly label?: string }) {
  const mark = MARKS[name]
  if (mark === undefined) {
    return (
      <span class="coin-mark letters" aria-hidden="true">
        {label.slice(0, 2).toUpperCase()}
      </span>
    )
  }
  const [ground, shapes, ink = '#ffffff'] = mark
  const isFilled = shapes[0] === '!'
  return (
    <svg class="coin-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <circle cx="16" cy="16" r="16" fill={ground} />
      <path
        d={shapes.replace('!', '')}
        fill={isFilled ? ink : 'none'}
        stroke={isFilled ? 'none' : ink}
        stroke-width="2.1"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
