import { settleRecent } from '../lib/settle.js'

/**
 * Each minute: Medusa answers a delivery with 200 before it works, so what its event bus loses is never delivered again.
 * @param {import('@medusajs/framework/types').MedusaContainer} container
 */
// biome-ignore lint/style/noDefaultExport: Medusa loads a job by it.
export default (container) => settleRecent(container, { days: 1, isThorough: false })

export const config = { name: 'paymesh-settle-recent', schedule: '* * * * *' }
