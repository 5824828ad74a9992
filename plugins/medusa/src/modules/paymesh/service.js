import { MedusaService } from '@medusajs/framework/utils'
import { createPaymesh } from '@paymesh/client'
import { requireOptions } from '../../lib/options.js'
import { PaymeshInvoice } from './models/paymesh-invoice.js'

/** The list of money to return, and the client. */
export class PaymeshService extends MedusaService({ PaymeshInvoice }) {
  /** @param {[Record<string, unknown>, import('../../lib/options.js').PaymeshOptions]} parameters */
  constructor(...parameters) {
    super(...parameters)
    const [, options] = parameters
    requireOptions(options)
    this.client = createPaymesh(options)
    this.dashboardUrl = options.dashboardUrl.replace(/\/$/, '')
  }
}
