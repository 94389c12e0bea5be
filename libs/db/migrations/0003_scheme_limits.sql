DROP INDEX "charges_method";--> statement-breakpoint
DROP INDEX "charges_fingerprint";--> statement-breakpoint
CREATE INDEX "charges_never_method" ON "charges" USING btree ("payment_method_id") WHERE retry_advice = 'never';--> statement-breakpoint
CREATE INDEX "charges_never_fingerprint" ON "charges" USING btree ("processor_id","fingerprint") WHERE retry_advice = 'never' and fingerprint is not null;--> statement-breakpoint
CREATE INDEX "charges_method" ON "charges" USING btree ("payment_method_id","created_at") WHERE status = 'failed';--> statement-breakpoint
CREATE INDEX "charges_fingerprint" ON "charges" USING btree ("processor_id","fingerprint","created_at") WHERE status = 'failed' and fingerprint is not null;