/**
 * Settings of the plug-in and of its payment provider, which need the same ones.
 * @typedef {object} PaymeshOptions
 * @property {string} apiKey `pm_live_…` or `pm_test_…`, with the scopes `invoices:read`, `invoices:write` and `payments:read`.
 * @property {string} baseUrl Address of the API, with `/api/v1`.
 * @property {string | readonly string[]} webhookSecret The endpoint's `whsec_…`; two while one is replaced.
 * @property {string} dashboardUrl Address of the Paymesh dashboard; links for the merchant begin with it.
 * @property {string} [successUrl] The page of the shop to which the checkout links after payment.
 * @property {string} [cancelUrl] The page of the shop to which the checkout links before payment.
 */

/**
 * Throws when a setting is missing.
 * @param {Record<string, any>} options
 */
export function requireOptions(options) {
  for (const name of ['apiKey', 'baseUrl', 'webhookSecret', 'dashboardUrl'])
    if (!options[name]?.length) throw new TypeError(`the Paymesh plug-in needs ${name}`)
}
