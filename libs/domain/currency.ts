/** Currencies that the service takes: lower-case ISO 4217, as the wire contract lists them. */
export const currencies = (
  'usd brl eur gbp aud cad nok sek mxn inr ars cop clp nzd jpy chf cny hkd sgd pln dkk zar thb myr ils php try idr czk aed sar rub '
  + 'all amd ang aoa awg azn bam bbd bdt bgn bif bmd bnd bob bsd bwp bzd crc cve djf dop dzd egp etb fjd fkp gel gip gmd gnf gtq gyd '
  + 'hnl huf jmd kes kgs khr kmf krw kyd kzt lak lbp lkr lrd lsl mad mdl mkd mnt mop mur mvr mwk nad ngn nio npr pab pen pgk pkr pyg '
  + 'qar ron rsd rwf sbd scr shp srd std szl tjs top ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd xof xpf zmw'
).split(' ') as [string, ...string[]];
