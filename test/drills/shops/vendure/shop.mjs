// A Vendure shop with one product and the plug-in, as a merchant writes it: `node shop.mjs`, with its settings in the environment.
import { writeFileSync } from 'node:fs'
import { PaymeshPlugin } from '@paymesh/vendure-plugin'
import { bootstrap, DefaultJobQueuePlugin, DefaultSchedulerPlugin, defaultConfig, mergeConfig } from '@vendure/core'
import { populate } from '@vendure/core/cli/index.js'

const { PORT, DATABASE_URL, SHOP_URL, PAYMESH_KEY, PAYMESH_API, PAYMESH_SECRET, PAYMESH_ADMIN } = process.env
const config = mergeConfig(defaultConfig, {
  apiOptions: { port: Number(PORT), hostname: '127.0.0.1', adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: { tokenMethod: 'bearer', superadminCredentials: { identifier: 'superadmin', password: 'superadmin' } },
  dbConnectionOptions: { type: 'postgres', url: DATABASE_URL, synchronize: true, logging: false },
  plugins: [
    DefaultJobQueuePlugin.init({}),
    DefaultSchedulerPlugin.init({}),
    PaymeshPlugin.init({
      apiKey: PAYMESH_KEY,
      baseUrl: PAYMESH_API,
      webhookSecret: PAYMESH_SECRET,
      dashboardUrl: PAYMESH_ADMIN,
      successUrl: (code) => `${SHOP_URL}/thanks/${code}`,
      cancelUrl: () => `${SHOP_URL}/cart`,
    }),
  ],
})

writeFileSync(
  'products.csv',
  `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets
Coffee,coffee,Beans,,,,,C1,16.90,standard,1000,true,,
`,
)
const initialData = {
  defaultLanguage: 'en',
  defaultZone: 'Europe',
  countries: [{ name: 'Germany', code: 'DE', zone: 'Europe' }],
  taxRates: [{ name: 'Standard', percentage: 0 }],
  shippingMethods: [{ name: 'Post', price: 500, taxRate: 0 }],
  paymentMethods: [{ name: 'Crypto', handler: { code: 'paymesh', arguments: [] } }],
  collections: [],
}
const app = await populate(() => bootstrap(config), initialData, 'products.csv')
void app
