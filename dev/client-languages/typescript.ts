import { FULFILMENT } from './fulfilment.ts'

/** The table of fulfilment as a constant of the TypeScript client. */
export function typescriptFulfilment(): string {
  const { orders, invoices, rows } = FULFILMENT
  const conditions = Object.entries(invoices).flatMap(([condition, statuses]) =>
    statuses.map((status) => `  ${status}: '${condition}',`),
  )
  const lines = Object.keys(orders).map((order) => {
    const cells = Object.entries(rows[order] ?? {}).map(
      ([condition, cell]) => `    ${condition}: [${cell.map((one) => `'${one}'`).join(', ')}],`,
    )
    return `  ${order}: {\n${cells.join('\n')}\n  },`
  })
  return `// Generated from clients/conformance/fulfilment.json by \`npm run gen:client\`. Do not edit.

/** What a status of an invoice means for the order. */
export const CONDITIONS = {
${conditions.join('\n')}
} as const

/** Order and condition of the invoice: action, next state of the order, money to return. */
export const TABLE = {
${lines.join('\n')}
} as const
`
}
