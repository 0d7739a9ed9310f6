BEGIN TRANSACTION;
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema','4');
CREATE TABLE results (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	created TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	problem_hash TEXT NOT NULL, 
	dtype TEXT NOT NULL, 
	device_kind TEXT NOT NULL, 
	device_name TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	author TEXT NOT NULL, 
	solution_hash TEXT NOT NULL, 
	harness_version TEXT NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "results" VALUES(1,'one','2026-03-01T12:00:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','ann','c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab','0.1.0','c16cb576e2901656f0d1462515a5c6ec6cc9ff26d7ae2e94e263e11fec7de4fb','{"schema":1,"id":"one","created":"2026-03-01T12:00:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"ann","name":"tiled.cu","language":"cuda","hash":"c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab","path":"solutions/gemm/ann/tiled.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","reason":null,"message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000246,"low":0.000024550849167216396,"high":0.00002464924923281641},"speedup":{"value":2.0,"low":1.992015978687983,"high":2.008016021354684},"calls_per_batch":64,"captured":true,"kernels":null,"copied":null,"baseline_kernels":null,"overhead_s":0.00015,"baseline_overhead_s":null,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000246,0.0000246],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":2.0,"low":1.9960039973346662,"high":2.0040040026680006},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(2,'two','2026-03-01T12:01:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','bob','s1','0.1.0','9ee34d1a97bbda79ad10ca4fa40dd4dceb6ffda56dac0ad4c2f9fb4e1c6368a7','{"schema":1,"id":"two","created":"2026-03-01T12:01:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"bob","name":"fast.cu","language":"cuda","hash":"s1","path":"solutions/gemm/bob/fast.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","reason":null,"message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000369,"low":0.00003682627375082459,"high":0.000036973873849224616},"speedup":{"value":3.0,"low":2.9880239680319747,"high":3.0120240320320257},"calls_per_batch":64,"captured":true,"kernels":null,"copied":null,"baseline_kernels":null,"overhead_s":0.00015,"baseline_overhead_s":null,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000369,0.0000369],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":3.0,"low":2.994005996001999,"high":3.0060060040020007},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(3,'three','2026-03-01T12:02:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','WRONG_ANSWER','cyd','s2','0.1.0','ed47a97ea5edb49b8a3b03a01f1e417354998859ca1245becb1949710f7dba68','{"schema":1,"id":"three","created":"2026-03-01T12:02:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"cyd","name":"tiled.cu","language":"cuda","hash":"s2","path":"solutions/gemm/cyd/tiled.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"WRONG_ANSWER","reason":null,"message":"wrong","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=33,n=1,k=7,alpha=-0.5","passed":false,"seconds":null,"message":"c differs","mismatch":{"parameter":"c","differing":12,"total":33,"first":{"index":[0,3],"expected":1.25,"got":1.5,"allowed":0.00001,"expected_imag":null,"got_imag":null},"worst":{"index":[4,0],"expected":-2.0,"got":"NaN","allowed":0.00002,"expected_imag":null,"got_imag":null}}}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[],"score":null,"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
CREATE TABLE rulings (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	result TEXT NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "rulings" VALUES(1,'bf5bf291e4e32c7fb30fab5ccd7227cb','two','4b24d2ec92a04ca03a7abb90b41853106f182180ea64100d4890907639f437c9','{"ruling":1,"id":"bf5bf291e4e32c7fb30fab5ccd7227cb","result":"two","created":"2026-11-22T15:42:51.020211Z","action":"INVALIDATED","who":"dora","reason":"precomputed"}');
CREATE TABLE sources (
	hash VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "sources" VALUES('c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab',X'2F2F2066697273740D0A696E7420783B0A');
CREATE TABLE standings (
	seq INTEGER NOT NULL, 
	problem TEXT NOT NULL, 
	form INTEGER NOT NULL, 
	checksum BIGINT NOT NULL, 
	standing BLOB NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "standings" VALUES(1,'gemm',3,1325675253,X'39656366353638303633323765323234393732326431623639376661633934303338646263346535366638363963393264376630396232663130303465363032623763353261326136316161313363643565393034376338333034633136303435633364323961396166386439376262303531306166333566353462303630303030303030303030303030303030343037376364333365336131656666663366653731383234343033333038303034303031303130300A2267656D6D222C22666C6F61743332222C2263756461222C224E5649444941204831303020383047422048424D33222C2230222C225079546F726368206561676572220A22616E6E222C2274696C65642E6375222C2263756461222C31322E332C322E302C312E393936303033393937333334363636322C322E303034303034303032363638303030360A22220A22323032362D30332D30315431323A30303A30302E3030303030352B30303030222C227031222C2263333431313062353830316637613333643732663231353337343232363365316461663466396234393064663630656534363765366465643064393866326162222C22302E312E30222C226F6E65222C4E614E0A747275652C747275652C22222C224143434550544544222C2222');
INSERT INTO "standings" VALUES(2,'gemm',3,1288965471,X'35656338616263336230396339643062373939313566326137393434313830333338646263346535366638363963393264376630396232663130303465363032363465616564646432316135306132626466663335393963613536363562656338646331613339393464626566643665303539373432333966353462303630303030303030303030303030303038343031396461363636616239663330373430356132353336653034633063303834303031303130300A2267656D6D222C22666C6F61743332222C2263756461222C224E5649444941204831303020383047422048424D33222C2230222C225079546F726368206561676572220A22626F62222C22666173742E6375222C2263756461222C31322E332C332E302C322E3939343030353939363030313939392C332E303036303036303034303032303030370A22220A22323032362D30332D30315431323A30313A30302E3030303030352B30303030222C227031222C227331222C22302E312E30222C2274776F222C4E614E0A747275652C747275652C22222C224143434550544544222C2222');
INSERT INTO "standings" VALUES(3,'gemm',3,403832089,X'30386461306263613439633137323436646164626262663663343530346637323338646263346535366638363963393264376630396232663130303465363032313533323931363036356166393066663166393165643538663662656430623532303262383734636437343235393363303531656436336366353462303630303030303030303030303030306638376630303030303030303030303066383766303030303030303030303030663837663030303130310A2267656D6D222C22666C6F61743332222C2263756461222C224E5649444941204831303020383047422048424D33222C2230222C22220A22637964222C2274696C65642E6375222C2263756461222C4E614E2C4E614E2C4E614E2C4E614E0A226E6F742074696D6564220A22323032362D30332D30315431323A30323A30302E3030303030352B30303030222C227031222C227332222C22302E312E30222C227468726565222C4E614E0A66616C73652C747275652C22222C2257524F4E475F414E53574552222C2222');
CREATE INDEX results_by_problem ON results (problem, seq);
CREATE INDEX ix_rulings_result ON rulings (result);
COMMIT;
