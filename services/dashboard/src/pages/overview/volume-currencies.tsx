import { Link } from 'react-router'
import { showCount, showDecimal } from '../../format/amounts.ts'
import { useTo } from '../../session/scope.ts'
import type { Volume } from './answers.ts'

/** What the total is made of: each currency's exact amount, what is left out, and how the rest was converted. */
export function VolumeCurrencies({ volume }: { readonly volume: Volume }) {
  const to = useTo()
  const { reported } = volume
  const currencies = volume.currencies.filter(({ count }) => count > 0)
  const left = reported.missing.reduce((sum, { count }) => sum + count, 0)
  return (
    <details className="pm-currencies">
      <summary>
        {currencies.length} currencies{left === 0 ? '' : `, ${showCount(left)} ${invoices(left)} not included`}
      </summary>
      <ul>
        {currencies.map(({ currency, amount, count }) => (
          <li key={currency}>
            {showDecimal(amount)} {currency}{' '}
            <span className="pm-dim">
              {showCount(count)} {invoices(count)}
              {missingWords(reported, currency)}
            </span>
          </li>
        ))}
      </ul>
      <p>
        Converted to {reported.currency} at the exchange rate of the moment each invoice was created; the rate is stored
        with the invoice. Invoices without a stored rate are not included.{' '}
        <Link to={to('settings/pricing')}>Change</Link>
      </p>
    </details>
  )
}

const invoices = (count: number) => (count === 1 ? 'invoice' : 'invoices')

function missingWords({ missing }: Volume['reported'], currency: string): string {
  const left = missing.find((one) => one.currency === currency)?.count ?? 0
  return left === 0 ? '' : `, ${showCount(left)} without a rate`
}
