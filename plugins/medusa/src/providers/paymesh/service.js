import { AbstractPaymentProvider, MathBN, PaymentActions } from '@medusajs/framework/utils'
import { createPaymesh, decide, PaymeshApiError, PaymeshWebhookError, verifyWebhook } from '@paymesh/client'
import { requireOptions } from '../../lib/options.js'

/** @typedef {import('@paymesh/client').Invoice} Invoice */

/**
 * The payment provider. An invoice belongs to one payment session, which is the attempt: Medusa deletes a session when the cart changes, and
 * makes another. Whether it is paid is read at Paymesh, never taken from a webhook, a browser or the session's data.
 */
export class PaymeshProvider extends AbstractPaymentProvider {
  static identifier = 'paymesh'
  static validateOptions = requireOptions

  /**
   * @param {{ logger: import('@medusajs/framework/types').Logger } & Record<string, unknown>} cradle
   * @param {import('../../lib/options.js').PaymeshOptions} options
   */
  constructor(cradle, options) {
    super(cradle, /** @type {any} */ (options))
    this.logger = cradle.logger
    this.options = options
    this.client = createPaymesh(options)
  }

  /** @param {import('@medusajs/framework/types').InitiatePaymentInput} input */
  async initiatePayment({ amount, currency_code, data }) {
    const session = String(data?.['session_id'] ?? '')
    const currency = currency_code.toUpperCase()
    const { maximumFractionDigits: places } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
    }).resolvedOptions()
    const price = MathBN.convert(amount).toFixed(places ?? 2)
    const invoice = await this.client.invoices.ensure({
      ...{
        amount: price,
        currency: /** @type {import('@paymesh/client').InvoiceCreate['currency']} */ (currency),
        order_id: session,
      },
      metadata: { medusa_session: session },
      success_url: this.options.successUrl ?? null,
      cancel_url: this.options.cancelUrl ?? null,
    })
    // `ensure` keeps an invoice for which money has come; it must never count for another price.
    if (!MathBN.eq(invoice.amount.value, price)) throw new Error('Money has come for the former price of this session.')
    return { id: invoice.id, data: { id: invoice.id, url: invoice.urls.checkout, session_id: session } }
  }

  /** @param {import('@medusajs/framework/types').UpdatePaymentInput} input */
  async updatePayment(input) {
    return this.initiatePayment(input)
  }

  /**
   * Medusa fills `idempotency_key` with the id of the session; its `data` begins with what the browser sent, and proves nothing.
   * @param {import('@medusajs/framework/types').AuthorizePaymentInput} input
   * @returns {Promise<import('@medusajs/framework/types').AuthorizePaymentOutput>}
   */
  async authorizePayment({ data = {}, context }) {
    const invoice = await this.client.invoices.get(String(data['id']))
    const session = context?.idempotency_key
    const isOwn = session !== undefined && invoice.metadata?.['medusa_session'] === session
    return { data, status: isOwn && isPaid(invoice) ? 'captured' : 'pending' }
  }

  /**
   * @param {import('@medusajs/framework/types').GetPaymentStatusInput} input
   * @returns {Promise<import('@medusajs/framework/types').GetPaymentStatusOutput>}
   */
  async getPaymentStatus({ data = {} }) {
    return { data, status: isPaid(await this.client.invoices.get(String(data['id']))) ? 'captured' : 'pending' }
  }

  /** @param {import('@medusajs/framework/types').RetrievePaymentInput} input */
  async retrievePayment({ data = {} }) {
    return { data: { ...(await this.client.invoices.get(String(data['id']))) } }
  }

  /** @param {import('@medusajs/framework/types').CapturePaymentInput} input */
  async capturePayment({ data = {} }) {
    return { data }
  }

  /**
   * Medusa cannot say that a refund is pending: it counts at once, and the job lists it as money to return.
   * @param {import('@medusajs/framework/types').RefundPaymentInput} input
   */
  async refundPayment({ data = {} }) {
    return { data }
  }

  /** @param {import('@medusajs/framework/types').CancelPaymentInput} input */
  async cancelPayment(input) {
    return this.deletePayment(input)
  }

  /**
   * Cancels the invoice. A failure does not keep the customer from changing the cart: what is paid afterwards is listed.
   * @param {import('@medusajs/framework/types').DeletePaymentInput} input
   */
  async deletePayment({ data = {} }) {
    try {
      if (typeof data['id'] === 'string') await this.client.invoices.cancel(data['id'])
    } catch (error) {
      if (!(error instanceof PaymeshApiError && error.code === 'INVALID_STATE'))
        this.logger.error(`Paymesh invoice ${data['id']} was not cancelled: ${error}`)
    }
    return { data }
  }

  /**
   * @param {import('@medusajs/framework/types').ProviderWebhookPayload['payload']} payload
   * @returns {Promise<import('@medusajs/framework/types').WebhookActionResult>}
   */
  async getWebhookActionAndData({ rawData, headers }) {
    const signature = /** @type {string | undefined} */ (headers['x-webhook-signature'])
    try {
      const { data } = verifyWebhook(rawData, signature, this.options.webhookSecret)
      if (data.object.object !== 'invoice') return { action: PaymentActions.NOT_SUPPORTED }
      const { metadata, ...invoice } = await this.client.invoices.get(data.object.id)
      const session_id = metadata?.['medusa_session']
      if (session_id === undefined || !isPaid(invoice)) return { action: PaymentActions.NOT_SUPPORTED }
      return { action: PaymentActions.SUCCESSFUL, data: { session_id, amount: invoice.amount.value } }
    } catch (error) {
      if (!(error instanceof PaymeshWebhookError)) throw error
      this.logger.warn(`a delivery was refused: ${error.reason}`)
      return { action: PaymentActions.NOT_SUPPORTED }
    }
  }
}

/**
 * Whether the table of the client has the order shipped for it.
 * @param {Pick<Invoice, 'status' | 'received' | 'crypto'>} invoice
 */
const isPaid = (invoice) => decide('open', /** @type {Invoice} */ (invoice)).order === 'shipped'
