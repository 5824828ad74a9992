import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { encode } from 'uqr'
import { save } from './save-file.ts'

const QUIET_MODULES = 4
const PNG_MODULE_PX = 12

/** A QR code, black on white in both themes with a quiet zone of four modules. `label` names its content. */
export function QrCode(props: { readonly text: string; readonly label: string; readonly size?: number }) {
  const { data, size } = encode(props.text, { ecc: 'M', border: QUIET_MODULES })
  const side = props.size ?? 200
  return (
    <svg
      className="pm-qr"
      width={side}
      height={side}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={props.label}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(data)} fill="#000" shapeRendering="crispEdges" />
    </svg>
  )
}

/** Buttons that save the code for print and for the web. */
export function QrDownloads({ text, name }: { readonly text: string; readonly name: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_MODULES })
  const svg = () =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><rect width="${size}" height="${size}" fill="#fff"/><path d="${pathOf(data)}" fill="#000" shape-rendering="crispEdges"/></svg>`
  const png = () => {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = size * PNG_MODULE_PX
    const pen = canvas.getContext('2d')
    if (pen === null) return
    pen.fillStyle = '#fff'
    pen.fillRect(0, 0, canvas.width, canvas.height)
    pen.fillStyle = '#000'
    data.forEach((row, y) => {
      row.forEach((dark, x) => {
        if (dark) pen.fillRect(x * PNG_MODULE_PX, y * PNG_MODULE_PX, PNG_MODULE_PX, PNG_MODULE_PX)
      })
    })
    canvas.toBlob((blob) => blob !== null && save(blob, `${name}.png`))
  }
  const icon = <IconDownload size={14} aria-hidden />
  return (
    <div className="pm-row">
      <Button
        size="xs"
        variant="default"
        leftSection={icon}
        onClick={() => save(new Blob([svg()], { type: 'image/svg+xml' }), `${name}.svg`)}
      >
        SVG
      </Button>
      <Button size="xs" variant="default" leftSection={icon} onClick={png}>
        PNG
      </Button>
    </div>
  )
}

function pathOf(rows: readonly (readonly boolean[])[]): string {
  return rows.map((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('')
}
