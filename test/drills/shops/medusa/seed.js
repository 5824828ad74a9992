// `medusa exec ./seed.js`: one product for 10 EUR, a region that is paid with Paymesh, a key for the shop's pages and a merchant.
const { writeFileSync } = require('node:fs')
const { Modules } = require('@medusajs/framework/utils')
const flows = require('@medusajs/medusa/core-flows')

exports.__esModule = true
exports.default = async ({ container }) => {
  const run = async (flow, input) => (await flows[flow](container).run({ input })).result
  const [channel] = await run('createSalesChannelsWorkflow', { salesChannelsData: [{ name: 'Web' }] })
  const [region] = await run('createRegionsWorkflow', {
    regions: [{ name: 'Europe', currency_code: 'eur', countries: ['de'], payment_providers: ['pp_paymesh_paymesh'] }],
  })
  const [key] = await run('createApiKeysWorkflow', {
    api_keys: [{ title: 'Web', type: 'publishable', created_by: '' }],
  })
  await run('linkSalesChannelsToApiKeyWorkflow', { id: key.id, add: [channel.id] })
  const variant = {
    title: 'Bag',
    options: { Size: 'Bag' },
    manage_inventory: false,
    prices: [{ amount: 10, currency_code: 'eur' }],
  }
  const [product] = await run('createProductsWorkflow', {
    products: [
      {
        ...{ title: 'Coffee', status: 'published', sales_channels: [{ id: channel.id }] },
        ...{ options: [{ title: 'Size', values: ['Bag'] }], variants: [variant] },
      },
    ],
  })
  const merchant = { email: 'merchant@shop.test', password: 'merchant' }
  const [user] = await run('createUsersWorkflow', { users: [{ email: merchant.email }] })
  const auth = container.resolve(Modules.AUTH)
  const { authIdentity } = await auth.register('emailpass', { body: merchant })
  await auth.updateAuthIdentities({ id: authIdentity.id, app_metadata: { user_id: user.id } })
  const seed = { key: key.token, region: region.id, variant: product.variants[0].id, ...merchant }
  writeFileSync('seed.json', JSON.stringify(seed))
}
