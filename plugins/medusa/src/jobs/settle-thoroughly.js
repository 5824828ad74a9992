import { settleRecent } from '../lib/settle.js'

/**
 * Each night: what changed without a new payment, by a decision of an operator or in Medusa.
 * @param {import('@medusajs/framework/types').MedusaContainer} container
 */
// biome-ignore lint/style/noDefaultExport: Medusa loads a job by it.
export default (container) => settleRecent(container, { days: 30, isThorough: true })

export const config = { name: 'paymesh-settle-thoroughly', schedule: '17 3 * * *' }
