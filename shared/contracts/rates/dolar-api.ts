import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /v1/dolares` of dolarapi.com: one row per kind of dollar in Argentina. */
export const dolarApiAnswer = z.array(z.unknown())

/** One kind: `compra` = bid, `venta` = ask in pesos per USD; `fechaActualizacion` is ISO 8601 in UTC. */
export const dolarApiRow = z.object({
  casa: z.string(),
  compra: priceText,
  venta: priceText,
  fechaActualizacion: z.string(),
})
