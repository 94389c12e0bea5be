DROP INDEX "events_account_type";--> statement-breakpoint
CREATE INDEX "events_account_type_position" ON "events" USING btree ("account_id","type","tx_id","id");--> statement-breakpoint
CREATE INDEX "events_account_customer" ON "events" USING btree ("account_id","customer_id","tx_id","id") WHERE customer_id is not null;