import type { InvoiceView, PaymentMethodView } from '#shared/contracts/checkout/invoice-view.ts'
import { NETWORKS, networkText } from '#shared/domain/networks.ts'

/** What came, each coin for itself with its network: money in another one is not the coin of the invoice. */
export function coinsText({ books, received }: InvoiceView, { symbol, network, isToken }: PaymentMethodView): string {
  if (books.coins.length === 0) return `${received} ${symbol}, ${networkText(network, isToken)}`
  return books.coins
    .map((coin) => {
      const isOwn = coin.symbol === symbol && coin.network === network
      return `${coin.amount} ${coin.symbol}, ${isOwn ? networkText(network, isToken) : NETWORKS[coin.network].name}`
    })
    .join(' + ')
}
